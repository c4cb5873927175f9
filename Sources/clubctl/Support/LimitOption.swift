import ArgumentParser

/// How many lines of a list are shown.
struct LimitOption: ParsableArguments {
    @Option(help: "How many of the latest at most.")
    var limit = 1000

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit takes a number from 1 on.") }
    }
}
