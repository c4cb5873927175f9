import ArgumentParser

/// `readerctl pass`
struct PassCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pass",
        abstract: "Reads and checks passes: wallets of phones, tags that sign, signed tokens.",
        discussion: """
            EXAMPLES
              readerctl pass check-config passes.json
              readerctl pass read --passes passes.json
              readerctl pass vas keygen -o vas.pem

            What a reader needs so that phones offer their passes stands in Documentation/passes.md. Nothing here is certified by \
            Apple or Google.
            """,
        subcommands: [
            PassRead.self, PassVerify.self, PassExplain.self, PassCheckConfiguration.self, PassVAS.self,
            PassSmartTap.self, PassSDM.self,
        ]
    )
}
