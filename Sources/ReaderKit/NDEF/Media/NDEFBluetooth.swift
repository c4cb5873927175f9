/// A Bluetooth device as a tag tells of it (Bluetooth Secure Simple Pairing Using NFC): the address, and data about the
/// device in the structures that extended inquiry responses and advertisements have.
public struct NDEFBluetooth: Sendable, Hashable {
    /// Whether the device is reached over Bluetooth Classic or Bluetooth Low Energy, which have records of their own.
    public var transport: Transport

    /// The 6 bytes of the address in the order in which they are printed, most significant first.
    ///
    /// A Low Energy record has it in a structure (type 1B), and may be without; then it is empty.
    public var address: [UInt8]

    /// Whether the address of a Low Energy device is a random one. `false` for Bluetooth Classic.
    public var isRandomAddress: Bool

    /// The structures in the order in which they are written, without that of a Low Energy address.
    public var structures: [Structure]

    /// How a device is reached.
    public enum Transport: String, Sendable, Hashable, CaseIterable, Codable {
        /// Bluetooth Classic (BR/EDR).
        case classic
        /// Bluetooth Low Energy.
        case lowEnergy
    }

    /// A piece of data about a device (Bluetooth Core, volume 3, part C, section 8).
    public struct Structure: Sendable, Hashable {
        /// What the data is: a number that the Bluetooth SIG assigns, such as 09 for the complete name.
        public var type: UInt8
        /// The data, 0 to 254 bytes.
        public var data: [UInt8]

        /// A structure.
        public init(type: UInt8, data: [UInt8]) {
            self.type = type
            self.data = data
        }
    }

    /// A device.
    public init(
        transport: Transport = .classic,
        address: [UInt8],
        isRandomAddress: Bool = false,
        structures: [Structure] = []
    ) {
        self.transport = transport
        self.address = address
        self.isRandomAddress = isRandomAddress && transport == .lowEnergy
        self.structures = structures
    }

    /// The device's name: the complete one (type 09) before the shortened one (type 08); `nil` if there is none, or if it
    /// is no text in UTF-8. It may be empty.
    public var name: String? {
        (data(type: 0x09) ?? data(type: 0x08)).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The class of the device (type 0D), a number of 24 bits; `nil` if there is none.
    public var deviceClass: UInt32? {
        guard let bytes = data(type: 0x0D), bytes.count == 3 else { return nil }
        return bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The address as it is printed, such as `11:22:33:44:55:66`; `nil` if there is none.
    public var addressText: String? {
        address.isEmpty ? nil : Hex.encode(address, separator: ":")
    }

    /// The data of the first structure of a type.
    public func data(type: UInt8) -> [UInt8]? {
        structures.first { $0.type == type }?.data
    }
}

extension NDEFBluetooth {
    /// The type of the structure that holds the address of a Low Energy device.
    private static let addressType: UInt8 = 0x1B

    /// Reads a payload.
    init(_ payload: [UInt8], transport: Transport, mode: NDEFMode) throws(NDEFError) {
        self.init(transport: transport, address: [])
        var cursor = NDEFCursor(payload)
        if transport == .classic {
            guard let length = cursor.littleEndian16(), let bytes = cursor.take(6) else {
                throw NDEFError(.bluetoothTruncated, at: payload.count)
            }
            // The length counts itself and the address. Nothing is ever subtracted from it unchecked.
            guard length >= 8 else { throw NDEFError(.bluetoothLengthTooShort, at: 0, value: length) }
            guard length <= payload.count else { throw NDEFError(.bluetoothLengthBeyondEnd, at: 0, value: length) }
            if length < payload.count, mode == .strict {
                throw NDEFError(.bluetoothTrailingBytes, at: length, value: payload.count - length)
            }
            address = bytes.reversed()
            cursor = NDEFCursor(payload, from: 8, to: length)
        }
        var hasAddress = false
        while let count = cursor.byte() {
            let start = cursor.offset - 1
            // A length of zero ends the data early; what follows is padding.
            if count == 0 {
                let padding = cursor.offset
                if mode == .strict, let other = cursor.rest().firstIndex(where: { $0 != 0 }) {
                    throw NDEFError(.bluetoothDataAfterEnd, at: padding + other)
                }
                break
            }
            guard let body = cursor.take(Int(count)), let type = body.first else {
                throw NDEFError(.bluetoothStructureBeyondEnd, at: start, value: Int(count))
            }
            if transport == .lowEnergy, type == Self.addressType, !hasAddress {
                guard body.count == 8 else {
                    throw NDEFError(.bluetoothAddressLength, at: start, value: body.count - 1)
                }
                hasAddress = true
                address = body[1...6].reversed()
                isRandomAddress = body[7] & 1 != 0
            } else {
                structures.append(Structure(type: type, data: Array(body.dropFirst())))
            }
        }
    }

    /// The payload. A Low Energy address is the first structure.
    func payload() throws(NDEFError) -> [UInt8] {
        guard address.count == 6 || (address.isEmpty && transport == .lowEnergy) else {
            throw NDEFError(.bluetoothAddressLength, at: 2, value: address.count, attempting: .encoding)
        }
        var bytes: [UInt8] = transport == .classic ? [0, 0] + address.reversed() : []
        if transport == .lowEnergy, !address.isEmpty {
            bytes += [8, Self.addressType] + address.reversed() + [isRandomAddress ? 1 : 0]
        }
        for structure in structures {
            guard structure.data.count <= 254 else {
                throw NDEFError(
                    .bluetoothTooLong,
                    at: bytes.count,
                    value: structure.data.count,
                    attempting: .encoding
                )
            }
            bytes += [UInt8(truncatingIfNeeded: structure.data.count + 1), structure.type] + structure.data
        }
        if transport == .classic {
            guard let length = UInt16(exactly: bytes.count) else {
                throw NDEFError(.bluetoothTooLong, at: 0, value: bytes.count, attempting: .encoding)
            }
            bytes[0] = UInt8(length & 0xFF)
            bytes[1] = UInt8(length >> 8)
        }
        return bytes
    }
}
