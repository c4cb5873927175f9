/// A file of the system that belongs to ClubKit.
struct SystemFile: Sendable {
    var name: String
    var contents: String

    static let rules = [
        SystemFile(name: "70-clubkit-readers.rules", bytes: PackageResources._0_clubkit_readers_rules),
        SystemFile(name: "93-clubkit-readers-power.rules", bytes: PackageResources._3_clubkit_readers_power_rules),
    ]

    static let blacklist = SystemFile(
        name: "blacklist-clubkit-nfc.conf",
        bytes: PackageResources.blacklist_clubkit_nfc_conf
    )

    private init(name: String, bytes: [UInt8]) {
        self.name = name
        contents = String(decoding: bytes, as: UTF8.self)
    }

    /// Whether all lines but comments are in a text, which may have others besides: some rules are there to be switched on.
    func isPart(of text: String) -> Bool {
        func lines(_ text: String) -> Set<Substring> { Set(text.split(separator: "\n").filter { !$0.hasPrefix("#") }) }
        return lines(contents).isSubset(of: lines(text))
    }

    static let polkitPath = "/etc/polkit-1/rules.d/60-clubkit.rules"

    static func polkit(user: String) -> String {
        """
        // Lets the kiosk use the card readers, also as a service and without anybody at the machine.
        polkit.addRule(function(action, subject) {
            if (action.id.indexOf("org.debian.pcsc-lite.") == 0 && subject.user == "\(user)") {
                return polkit.Result.YES;
            }
        });

        """
    }
}
