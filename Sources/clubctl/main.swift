import ClubCommands

await ClubCtl.start()
