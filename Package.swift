// swift-tools-version: 6.1
import PackageDescription

/// Turning either trait off builds ReaderKit without that C library (and without its headers installed).
let pcsc: SwiftSetting = .define("PCSC", .when(traits: ["PCSC"]))
let nfc: SwiftSetting = .define("NFC", .when(traits: ["NFC"]))
/// Without this trait nothing of a network library is fetched or built.
let network: SwiftSetting = .define("NETWORK", .when(traits: ["Network"]))

let package = Package(
    name: "ClubKit",
    products: [
        .library(name: "ReaderKit", targets: ["ReaderKit"]),
        .library(name: "ReaderKitTesting", targets: ["ReaderKitTesting"]),
        .library(name: "Diagnosis", targets: ["Diagnosis"]),
        .library(name: "ClubKit", targets: ["ClubKit"]),
        .library(name: "KioskKit", targets: ["KioskKit"]),
        .library(name: "KioskTerminal", targets: ["KioskTerminal"]),
        .library(name: "KioskWeb", targets: ["KioskWeb"]),
        .library(name: "SirenKit", targets: ["SirenKit"]),
        .library(name: "SirenCache", targets: ["SirenCache"]),
        .library(name: "SirenHTTP", targets: ["SirenHTTP"]),
        .library(name: "LPMSirenKit", targets: ["LPMSirenKit"]),
        .executable(name: "readerctl", targets: ["readerctl"]),
        .executable(name: "clubctl", targets: ["clubctl"]),
        .executable(name: "clubkit-tools", targets: ["clubkit-tools"]),
    ],
    traits: [
        .trait(name: "PCSC", description: "Readers served by pcscd, through libpcsclite."),
        .trait(name: "NFC", description: "Readers driven by libnfc."),
        .trait(name: "Network", description: "The screen in a browser, and Siren over HTTP."),
        .default(enabledTraits: ["PCSC", "NFC"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    ],
    targets: [
        .systemLibrary(name: "CPCSC", pkgConfig: "libpcsclite", providers: [.apt(["libpcsclite-dev"])]),
        .systemLibrary(name: "CNFC", pkgConfig: "libnfc", providers: [.apt(["libnfc-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        // Loaded when it is used, so that nothing links it.
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CEdit", pkgConfig: "libedit", providers: [.apt(["libedit-dev"])]),
        .systemLibrary(name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
        // What Swift's own module of the C library omits.
        .systemLibrary(name: "CLinux"),
        // Digests, ciphers, keys and signatures, over libcrypto.
        .target(name: "Cryptography", dependencies: ["CCrypto"]),
        // The way of a card's bytes, each room on those above it.
        .target(name: "CardCore"),
        .target(name: "NDEFCodec", dependencies: ["CardCore"]),
        .target(name: "CardTags", dependencies: ["Cryptography", "NDEFCodec"]),
        .target(name: "CardPasses", dependencies: ["CardTags", "CLinux", "Cryptography", "CZlib"]),
        .target(name: "Captures", dependencies: ["CardPasses"]),
        .target(
            name: "ReaderKit",
            dependencies: [
                .target(name: "CPCSC", condition: .when(traits: ["PCSC"])),
                .target(name: "CNFC", condition: .when(traits: ["NFC"])),
                "Captures",
            ],
            swiftSettings: [pcsc, nfc]
        ),
        .target(
            name: "Diagnosis",
            dependencies: ["CLinux", "ReaderKit"],
            resources: [
                .embedInCode("udev/70-clubkit-readers.rules"), .embedInCode("udev/93-clubkit-readers-power.rules"),
                .embedInCode("udev/blacklist-clubkit-nfc.conf"),
            ],
            swiftSettings: [pcsc, nfc]
        ),
        .target(name: "ReaderKitTesting", dependencies: ["Cryptography", "ReaderKit"]),
        .target(name: "PlainJSON"),
        .target(name: "ClubRecords", dependencies: ["CardPasses", "Cryptography", "PlainJSON"]),
        .target(
            name: "ClubScenarios",
            dependencies: ["CardPasses", "ClubRecords", "Cryptography", .product(name: "Yams", package: "Yams")]
        ),
        .target(
            name: "ClubMessages",
            dependencies: [
                "CardPasses", "ClubRecords", "Cryptography", .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "ClubKit",
            dependencies: [
                "ReaderKit", "Cryptography", "Diagnosis", "ClubMessages", "ClubRecords", "ClubScenarios",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: [pcsc]
        ),
        .target(
            name: "KioskKit",
            dependencies: ["CLinux", "CardCore", "ClubKit", "ClubScenarios", "Diagnosis", "ReaderKit"]
        ),
        .target(name: "KioskTerminal", dependencies: ["CLinux", "KioskKit"]),
        .target(
            name: "KioskWeb",
            dependencies: [
                .target(name: "CQREncode", condition: .when(traits: ["Network"])),
                "CardCore", "ClubRecords", "ClubKit", "Cryptography", "KioskKit",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Network"])),
                .product(name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: ["Network"])),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Network"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Network"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Network"])),
            ],
            resources: [
                .embedInCode("Pages/visitor.html"), .embedInCode("Pages/desk.html"), .embedInCode("Pages/screen.css"),
                .embedInCode("Pages/icon.svg"), .embedInCode("Pages/visitor.js"), .embedInCode("Pages/desk.js"),
                .embedInCode("Pages/stream.js"), .embedInCode("Pages/look.js"), .embedInCode("Pages/sounds.js"),
                .embedInCode("Pages/memory.js"),
            ],
            swiftSettings: [network]
        ),
        // APIs of others, and one's own: neither readers nor the club know of it.
        .target(name: "SirenKit", dependencies: ["PlainJSON", .product(name: "Logging", package: "swift-log")]),
        .target(
            name: "SirenCache",
            dependencies: [
                "SirenKit", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]
        ),
        .target(
            name: "CurlHTTP",
            dependencies: [.target(name: "CCurl", condition: .when(traits: ["Network"]))],
            swiftSettings: [network]
        ),
        .target(
            name: "SirenHTTP",
            dependencies: [
                .target(name: "CurlHTTP", condition: .when(traits: ["Network"])),
                .target(name: "Cryptography", condition: .when(traits: ["Network"])),
                "SirenKit",
            ],
            swiftSettings: [network]
        ),
        // The names of the original library of Siren APIs.
        .target(name: "LPMSirenKit", dependencies: ["SirenKit"]),
        .target(
            name: "ToolSupport",
            dependencies: [
                "ReaderKit", "Diagnosis",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: [pcsc, nfc]
        ),
        .target(
            name: "ReaderCommands",
            dependencies: [
                "CEdit", "ToolSupport", "ReaderKit", "ReaderKitTesting", "ClubKit", "Diagnosis", "KioskKit",
            ],
            swiftSettings: [pcsc, nfc]
        ),
        .target(
            name: "ClubCommands",
            dependencies: [
                "ToolSupport", "ReaderKit", "ClubKit", "Diagnosis", "KioskKit", "KioskTerminal", "KioskWeb",
            ],
            swiftSettings: [network]
        ),
        .executableTarget(name: "readerctl", dependencies: ["ReaderCommands"]),
        .executableTarget(name: "clubctl", dependencies: ["ClubCommands"]),
        // Both in one program, for packages.
        .executableTarget(name: "clubkit-tools", dependencies: ["ClubCommands", "ReaderCommands"]),
        .target(name: "TestSupport", dependencies: ["CardCore"], path: "Tests/Support"),
        // What Scripts/fuzz fuzzes, which a test runs on the inputs that once were findings.
        .target(name: "FuzzTargets", dependencies: ["ReaderKit", "SirenKit"], path: "Fuzz/Targets"),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets"]),
        .testTarget(name: "CryptographyTests", dependencies: ["Cryptography", "TestSupport"]),
        .testTarget(name: "CardCoreTests", dependencies: ["Captures", "TestSupport"]),
        .testTarget(name: "NDEFCodecTests", dependencies: ["NDEFCodec", "TestSupport"]),
        .testTarget(name: "CardTagsTests", dependencies: ["CardTags", "ReaderKitTesting", "TestSupport"]),
        .testTarget(
            name: "CardPassesTests",
            dependencies: ["CardPasses", "Cryptography", "ReaderKitTesting", "TestSupport"]
        ),
        .testTarget(
            name: "CapturesTests",
            dependencies: ["Captures", "ReaderKitTesting", "TestSupport"],
            exclude: ["Logs"]
        ),
        .testTarget(
            name: "ReaderKitTests",
            dependencies: ["ReaderKit", "ReaderKitTesting", "TestSupport"],
            swiftSettings: [pcsc, nfc]
        ),
        .testTarget(
            name: "DiagnosisTests",
            dependencies: ["ClubKit", "Diagnosis", "KioskKit", "ReaderKit", "TestSupport"]
        ),
        .testTarget(name: "ReaderKitTestingTests", dependencies: ["ReaderKit", "ReaderKitTesting", "TestSupport"]),
        .target(
            name: "RecordsTestSupport",
            dependencies: ["ClubRecords", "Cryptography", "ReaderKit", "TestSupport"],
            path: "Tests/RecordsSupport"
        ),
        .testTarget(
            name: "ClubRecordsTests",
            dependencies: ["ClubRecords", "ReaderKit", "RecordsTestSupport", "TestSupport"]
        ),
        .testTarget(
            name: "ClubScenariosTests",
            dependencies: ["ClubScenarios", "ClubRecords", "ReaderKit", "RecordsTestSupport", "TestSupport"]
        ),
        .target(
            name: "MessagesTestSupport",
            dependencies: [
                "ClubMessages", "ClubRecords", "RecordsTestSupport", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/MessagesSupport"
        ),
        .testTarget(
            name: "ClubMessagesTests",
            dependencies: [
                "ClubMessages", "ClubRecords", "MessagesTestSupport", "ReaderKit", "RecordsTestSupport", "TestSupport",
            ]
        ),
        .testTarget(
            name: "ClubKitTests",
            dependencies: [
                "ClubKit", "ClubMessages", "ClubRecords", "ClubScenarios", "MessagesTestSupport", "ReaderKit",
                "ReaderKitTesting", "RecordsTestSupport", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]
        ),
        .testTarget(
            name: "KioskKitTests",
            dependencies: ["ClubKit", "Diagnosis", "KioskKit", "ReaderKit", "TestSupport"]
        ),
        .testTarget(
            name: "KioskWebTests",
            dependencies: ["KioskWeb", "ReaderKitTesting", "TestSupport"],
            swiftSettings: [network]
        ),
        .testTarget(
            name: "KioskTerminalTests",
            dependencies: ["KioskKit", "KioskTerminal", "TestSupport"],
            exclude: ["Frames"]
        ),
        // What a test kills while it writes.
        .executableTarget(
            name: "siren-cache-writer",
            dependencies: ["SirenCache", "SirenKit"],
            path: "Tests/CacheWriter"
        ),
        .testTarget(
            name: "SirenKitTests",
            dependencies: [
                "SirenCache", "SirenKit", "TestSupport", "siren-cache-writer",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(name: "LPMSirenKitTests", dependencies: ["LPMSirenKit", "SirenKit"]),
        .testTarget(
            name: "SirenHTTPTests",
            dependencies: ["SirenCache", "SirenHTTP", "SirenKit", "TestSupport"],
            exclude: ["http2.py", "members.py", "server.py", "shop.py"],
            swiftSettings: [network]
        ),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "ReaderKit", "ReaderKitTesting", "ClubKit", "Cryptography", "Diagnosis", "KioskKit", "ReaderCommands",
                "ToolSupport", "readerctl", "clubctl", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: [pcsc, nfc, network]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// The fuzzer's program has its main function in libFuzzer, so nothing else can be built with it there.
if Context.environment["CLUBKIT_FUZZ"] != nil {
    package.targets.append(.executableTarget(name: "Fuzz", dependencies: ["FuzzTargets"], path: "Fuzz/Driver"))
}
