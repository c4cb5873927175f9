import ReaderCommands

await ReaderCtl.main()
