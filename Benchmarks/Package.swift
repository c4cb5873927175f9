// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that building or using the libraries never builds a benchmark.
let package = Package(
    name: "Benchmarks",
    dependencies: [
        .package(name: "ClubKit", path: "..")
    ],
    targets: [
        .target(name: "BenchmarkSupport"),
        .executableTarget(
            name: "ndef-mutations",
            dependencies: ["BenchmarkSupport", .product(name: "ReaderKit", package: "ClubKit")]
        ),
        .executableTarget(
            name: "ndef-decode",
            dependencies: ["BenchmarkSupport", .product(name: "ReaderKit", package: "ClubKit")]
        ),
        .executableTarget(
            name: "pass-mutations",
            dependencies: ["BenchmarkSupport", .product(name: "ReaderKit", package: "ClubKit")]
        ),
        .executableTarget(
            name: "pass-cost",
            dependencies: [
                "BenchmarkSupport",
                .product(name: "ReaderKit", package: "ClubKit"),
                .product(name: "ReaderKitTesting", package: "ClubKit"),
            ]
        ),
        .systemLibrary(name: "CPCSCLite", pkgConfig: "libpcsclite", providers: [.apt(["libpcsclite-dev"])]),
        .target(name: "CTransmit", dependencies: ["CPCSCLite"]),
        .executableTarget(
            name: "pcsc-transmit",
            dependencies: [
                "BenchmarkSupport", "CTransmit",
                .product(name: "ReaderKit", package: "ClubKit"),
                .product(name: "ReaderKitTesting", package: "ClubKit"),
            ]
        ),
        .executableTarget(
            name: "member-transfer",
            dependencies: ["BenchmarkSupport", .product(name: "ClubKit", package: "ClubKit")]
        ),
        .executableTarget(
            name: "member-list",
            dependencies: [
                "BenchmarkSupport",
                .product(name: "ClubKit", package: "ClubKit"),
                .product(name: "ReaderKit", package: "ClubKit"),
            ]
        ),
        .executableTarget(
            name: "kiosk-screen",
            dependencies: [
                "BenchmarkSupport",
                .product(name: "ClubKit", package: "ClubKit"),
                .product(name: "KioskKit", package: "ClubKit"),
                .product(name: "ReaderKit", package: "ClubKit"),
            ]
        ),
        .target(name: "CVisits", linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "visit-rate",
            dependencies: [
                "BenchmarkSupport", "CVisits",
                .product(name: "ClubKit", package: "ClubKit"),
                .product(name: "ReaderKit", package: "ClubKit"),
            ]
        ),
        .executableTarget(
            name: "tap-cost",
            dependencies: [
                "BenchmarkSupport", "CVisits",
                .product(name: "ClubKit", package: "ClubKit"),
                .product(name: "ReaderKit", package: "ClubKit"),
            ]
        ),
        .executableTarget(
            name: "retention-cost",
            dependencies: [
                "BenchmarkSupport", "CVisits",
                .product(name: "ClubKit", package: "ClubKit"),
                .product(name: "ReaderKit", package: "ClubKit"),
            ]
        ),
        .executableTarget(
            name: "siren-decode",
            dependencies: ["BenchmarkSupport", .product(name: "SirenKit", package: "ClubKit")]
        ),
        .executableTarget(
            name: "message-rate",
            dependencies: ["BenchmarkSupport", .product(name: "ClubKit", package: "ClubKit")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
