import CardCore

/// The description that a card of the DESFire family gives of itself (the command GET VERSION, `60`, three parts).
public struct DESFireVersion: Sendable, Hashable {
    /// What is known of the chip.
    public var hardware: Part

    /// What is known of the program in it.
    public var software: Part

    /// The card's fixed identifier, 7 bytes; `nil` if the card is set to show random identifiers.
    public var uid: [UInt8]?

    /// The number of the production batch, 5 bytes.
    public var batch: [UInt8]

    /// The calendar week in which the card was made, 1...53, or `nil` if the card omits it.
    public var productionWeek: Int?

    /// The year in which the card was made, 2000...2099, or `nil` if the card omits it.
    public var productionYear: Int?

    /// Chip or program.
    public struct Part: Sendable, Hashable {
        /// The maker; `04` is NXP.
        public var vendor: UInt8
        /// The kind: `01` DESFire, `02` MIFARE Plus, `04` NTAG, `08` DESFire Light.
        public var type: UInt8
        /// The kind below it.
        public var subtype: UInt8
        /// The major version.
        public var major: UInt8
        /// The minor version.
        public var minor: UInt8
        /// The size of the memory as the card writes it: above bit 0 the power of two, bit 0 for a size above that.
        public var storage: UInt8
        /// The protocol: `05` is ISO/IEC 14443-3 and 14443-4.
        public var protocolType: UInt8

        /// Seven bytes, in the order of the properties.
        init?(_ bytes: some Collection<UInt8>) {
            let bytes = Array(bytes)
            guard bytes.count == Self.length else { return nil }
            vendor = bytes[0]
            type = bytes[1]
            subtype = bytes[2]
            major = bytes[3]
            minor = bytes[4]
            storage = bytes[5]
            protocolType = bytes[6]
        }

        static let length = 7
    }

    /// The card products that the version distinguishes.
    public enum Product: String, Sendable, Hashable, CaseIterable {
        /// The first DESFire, with DES keys only (also MF3ICD40).
        case desfire = "MIFARE DESFire"
        /// DESFire EV1.
        case ev1 = "MIFARE DESFire EV1"
        /// DESFire EV2.
        case ev2 = "MIFARE DESFire EV2"
        /// DESFire EV3.
        case ev3 = "MIFARE DESFire EV3"
        /// DESFire Light: one application of its own, fixed files.
        case light = "MIFARE DESFire Light"
        /// NTAG 424 DNA: an NDEF tag with keys.
        case ntag424 = "NTAG 424 DNA"
        /// NTAG 413 DNA: its smaller kin.
        case ntag413 = "NTAG 413 DNA"
    }

    /// The product, or `nil` if the version is of none that is known. A card's own description is no proof.
    public var product: Product? {
        guard hardware.vendor == 0x04 else { return nil }
        switch (hardware.type & 0x0F, hardware.major) {
        case (0x01, 0x00): return .desfire
        case (0x01, 0x01): return .ev1
        case (0x01, 0x12), (0x01, 0x22): return .ev2
        case (0x01, 0x33), (0x01, 0x42): return .ev3
        case (0x08, _): return .light
        case (0x04, 0x10): return .ntag413
        case (0x04, _): return .ntag424
        default: return nil
        }
    }

    /// Whether the card has the smaller set of commands of DESFire Light and NTAG 4xx: `AD` and `8D` for reading and
    /// writing, no applications but its own.
    public var hasLightCommands: Bool { product == .light || product == .ntag424 || product == .ntag413 }

    /// Reads the three parts, one after the other.
    ///
    /// - Parameter bytes: 28 bytes or more; what stands behind is not looked at. `nil` if there are fewer.
    public init?(_ bytes: [UInt8]) {
        let part = Part.length
        guard bytes.count >= 2 * part + 14, let hardware = Part(bytes[..<part]),
            let software = Part(bytes[part..<2 * part])
        else { return nil }
        self.hardware = hardware
        self.software = software
        let uid = Array(bytes[2 * part..<2 * part + 7])
        self.uid = uid.allSatisfy { $0 == 0 } ? nil : uid
        batch = Array(bytes[2 * part + 7..<2 * part + 12])
        productionWeek = Self.decimal(bytes[2 * part + 12]).flatMap { (1...53).contains($0) ? $0 : nil }
        productionYear = productionWeek == nil ? nil : Self.decimal(bytes[2 * part + 13]).map { 2000 + $0 }
    }

    /// A binary-coded decimal of two digits.
    private static func decimal(_ byte: UInt8) -> Int? {
        byte >> 4 <= 9 && byte & 0x0F <= 9 ? Int(byte >> 4) * 10 + Int(byte & 0x0F) : nil
    }
}

extension DESFireVersion: Redacted {
    /// The product and its versions, without the identifier, so that logs and error texts do not show it.
    public var description: String {
        let name = product?.rawValue ?? "unknown card of type \([hardware.type].hex)"
        return "\(name), hardware \(hardware.major).\(hardware.minor), software \(software.major).\(software.minor)"
    }
}
