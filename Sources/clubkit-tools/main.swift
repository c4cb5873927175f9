import ClubCommands
import ReaderCommands

// Both tools in one program, which a package installs once: it is the tool by whose name it was started.
if CommandLine.arguments.first?.split(separator: "/").last == "clubctl" {
    await ClubCtl.start()
} else {
    await ReaderCtl.start()
}
