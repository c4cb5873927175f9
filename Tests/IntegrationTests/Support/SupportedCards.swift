#if PCSC
import ReaderKit
import ReaderKitTesting

extension SupportedCard {
    /// The rows of the table, in its order.
    static let all: [SupportedCard] = type2 + classic + others + smartCards + identities

    private static let everything = Set(CardOperation.allCases)

    private static let type2: [SupportedCard] = [
        type2("MIFARE Ultralight", .ultralight),
        type2("MIFARE Ultralight C", .ultralightC),
        type2("MIFARE Ultralight EV1, 48 bytes", .ultralightEV1Small, product: "MIFARE Ultralight EV1 (MF0UL11)"),
        type2("MIFARE Ultralight EV1, 128 bytes", .ultralightEV1Large, product: "MIFARE Ultralight EV1 (MF0UL21)"),
        type2("NTAG210", .ntag210), type2("NTAG212", .ntag212),
        type2("NTAG213", .ntag213), type2("NTAG215", .ntag215), type2("NTAG216", .ntag216),
    ]

    private static func type2(_ name: String, _ model: SimulatedNTAG.Model, product: String? = nil) -> SupportedCard {
        SupportedCard(
            name: name,
            product: product ?? name,
            formatted: { SimulatedNTAG.formatted(model, message: message) ?? SimulatedNTAG(model) },
            blank: { SimulatedNTAG.unformatted(model) },
            operations: everything
        )
    }

    private static let classic: [SupportedCard] = [
        classic("MIFARE Classic Mini", .mini, product: "MIFARE Mini"),
        classic("MIFARE Classic 1K", .oneK),
        classic("MIFARE Classic 4K", .fourK),
    ]

    private static func classic(_ name: String, _ size: ClassicSize, product: String? = nil) -> SupportedCard {
        SupportedCard(
            name: name,
            product: product ?? name,
            formatted: { SimulatedMIFAREClassic.formatted(size, message: message) ?? SimulatedMIFAREClassic(size) },
            blank: { SimulatedMIFAREClassic(size) },
            operations: everything
        )
    }

    private static let others: [SupportedCard] = [
        SupportedCard(
            name: "Topaz (Type 1)",
            product: "Topaz 96",
            formatted: { SimulatedTopaz.formatted(message: message) ?? SimulatedTopaz() },
            operations: [.identify, .read]
        ),
        SupportedCard(
            name: "Topaz 512 (Type 1)",
            product: "Topaz 512",
            formatted: { SimulatedTopaz.formatted(message: message, isLarge: true) ?? SimulatedTopaz() },
            operations: [.identify, .read]
        ),
        SupportedCard(
            name: "FeliCa Lite-S (Type 3)",
            product: "FeliCa Lite-S",
            formatted: { SimulatedFeliCa.formatted(message: message) ?? SimulatedFeliCa() },
            operations: [.identify, .read, .write]
        ),
        SupportedCard(
            name: "ICODE SLIX (Type 5)",
            product: "ICODE SLIX",
            formatted: { SimulatedVicinityTag.formatted(message: message) ?? SimulatedVicinityTag() },
            operations: [.identify, .read, .write]
        ),
    ]

    private static let smartCards: [SupportedCard] = [
        SupportedCard(
            name: "Type 4 tag of any maker",
            product: "ISO 14443-4 A card",
            formatted: { SimulatedType4Tag(message: message) },
            operations: [.identify, .read, .write, .lock]
        ),
        desfire("MIFARE DESFire EV1", .ev1), desfire("MIFARE DESFire EV2", .ev2), desfire("MIFARE DESFire EV3", .ev3),
        SupportedCard(
            name: "NTAG 424 DNA",
            product: "NTAG 424 DNA",
            formatted: { SimulatedNTAG424.card(message: message) },
            operations: [.identify, .read, .write, .lock],
            lock: lockWithFactoryKey
        ),
    ]

    private static func desfire(_ name: String, _ model: SimulatedDESFire.Model) -> SupportedCard {
        SupportedCard(
            name: name,
            product: name + " 8K",
            formatted: { desfire(model, [.ndef(message: message)]) },
            blank: { desfire(model, []) },
            operations: everything,
            lock: lockWithFactoryKey
        )
    }

    private static func desfire(
        _ model: SimulatedDESFire.Model,
        _ applications: [SimulatedDESFireApplication]
    ) -> SimulatedDESFire {
        var configuration = SimulatedDESFire.Configuration()
        configuration.model = model
        configuration.applications = applications
        return SimulatedDESFire(configuration)
    }

    private static let lockWithFactoryKey: @Sendable (any CardChannel, PermanentLock) throws -> Void = {
        try DESFireNDEF.lock($1, over: $0, key: .factory)
    }

    private static let identities: [SupportedCard] = [
        SupportedCard(
            name: "Phone without a pass",
            product: "phone or watch",
            formatted: { SimulatedIdentityCard.phone() },
            operations: [.identify]
        )
    ]
}
#endif
