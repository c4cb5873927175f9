import ClubCommands

await ClubCtl.main()
