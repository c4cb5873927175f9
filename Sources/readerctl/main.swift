import ReaderCommands

await ReaderCtl.start()
