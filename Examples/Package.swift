// swift-tools-version: 6.2
import PackageDescription

// A package of its own: it sees of the libraries what any other package sees.
let package = Package(
    name: "Examples",
    products: [
        .executable(name: "siren-browser", targets: ["SirenBrowser"])
    ],
    // Programs for Siren APIs ask servers only with this trait, and else answer from recordings: so nobody who builds
    // the examples fetches a network library unasked, and there is one package of them, whose tests need no server.
    traits: [
        .trait(name: "Network", description: "Siren over HTTP.")
    ],
    dependencies: [
        .package(
            name: "ClubKit",
            path: "..",
            // The default ones too. In this order SwiftPM gives the compiler the same flags as in a build of ClubKit itself,
            // so that in its folder the libraries are not compiled anew.
            traits: ["PCSC", .trait(name: "Network", condition: .when(traits: ["Network"])), "NFC"]
        )
    ],
    targets: [
        .executableTarget(name: "ReadACard", dependencies: [.product(name: "ReaderKit", package: "ClubKit")]),
        .executableTarget(
            name: "MembershipKiosk",
            dependencies: [
                .product(name: "ClubKit", package: "ClubKit"), .product(name: "ReaderKit", package: "ClubKit"),
            ]
        ),
        .executableTarget(
            name: "MemberScreen",
            dependencies: [
                .product(name: "ClubKit", package: "ClubKit"), .product(name: "ReaderKit", package: "ClubKit"),
            ]
        ),
        // The same sources (the folder is a link to them), isolated to the main actor by default.
        .executableTarget(
            name: "MemberScreenOnMainActor",
            dependencies: [
                .product(name: "ClubKit", package: "ClubKit"), .product(name: "ReaderKit", package: "ClubKit"),
            ],
            swiftSettings: [.defaultIsolation(MainActor.self)]
        ),
        .executableTarget(
            name: "FreeCoffee",
            dependencies: [
                .product(name: "ClubKit", package: "ClubKit"), .product(name: "ReaderKit", package: "ClubKit"),
            ]
        ),
        .executableTarget(
            name: "KioskScreen",
            dependencies: [
                .product(name: "ClubKit", package: "ClubKit"), .product(name: "KioskKit", package: "ClubKit"),
                .product(name: "ReaderKit", package: "ClubKit"),
            ]
        ),
        .executableTarget(name: "OwnCheck", dependencies: [.product(name: "Diagnosis", package: "ClubKit")]),
        .executableTarget(
            name: "TestYourKiosk",
            dependencies: [
                .product(name: "ClubKit", package: "ClubKit"), .product(name: "ReaderKit", package: "ClubKit"),
                .product(name: "ReaderKitTesting", package: "ClubKit"),
            ]
        ),
        // What the two programs below have in common.
        .target(
            name: "SirenTerminal",
            dependencies: [
                .product(name: "SirenKit", package: "ClubKit"),
                .product(name: "SirenHTTP", package: "ClubKit", condition: .when(traits: ["Network"])),
            ],
            swiftSettings: [.define("NETWORK", .when(traits: ["Network"]))]
        ),
        .executableTarget(
            name: "SirenBrowser",
            dependencies: ["SirenTerminal", .product(name: "SirenKit", package: "ClubKit")]
        ),
        .executableTarget(
            name: "ClubActions",
            dependencies: [
                "SirenTerminal", .product(name: "ReaderKit", package: "ClubKit"),
                .product(name: "SirenKit", package: "ClubKit"),
            ]
        ),
        // The code of the articles in Sources/*/*.docc: it is compiled, and nobody calls it.
        .target(
            name: "Tasks",
            dependencies: [
                .product(name: "ClubKit", package: "ClubKit"), .product(name: "KioskKit", package: "ClubKit"),
                .product(name: "KioskTerminal", package: "ClubKit"), .product(name: "ReaderKit", package: "ClubKit"),
                .product(name: "ReaderKitTesting", package: "ClubKit"), .product(name: "SirenKit", package: "ClubKit"),
            ]
        ),
        .testTarget(
            name: "CaptureTests",
            dependencies: [
                .product(name: "ReaderKit", package: "ClubKit"), .product(name: "ReaderKitTesting", package: "ClubKit"),
            ]
        ),
        .testTarget(
            name: "KioskScreenTests",
            dependencies: [
                "KioskScreen", .product(name: "ClubKit", package: "ClubKit"),
                .product(name: "KioskKit", package: "ClubKit"), .product(name: "ReaderKit", package: "ClubKit"),
            ]
        ),
        .testTarget(
            name: "SirenBrowserTests",
            dependencies: ["SirenBrowser", "SirenTerminal", .product(name: "SirenKit", package: "ClubKit")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
