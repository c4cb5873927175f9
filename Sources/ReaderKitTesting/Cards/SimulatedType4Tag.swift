import ReaderKit
import Synchronization

/// A Type 4 tag: a card with the NDEF application, its capability container and its NDEF file.
///
/// It answers SELECT, READ BINARY and UPDATE BINARY, with data objects (`B1`, `D7`) where the file is longer than
/// 32 KiB, and GET RESPONSE. The ``Configuration`` holds what differs between real cards.
public final class SimulatedType4Tag: SimulatedCard {
    /// The identifier, the same each time.
    public let uid: [UInt8]

    /// The historical bytes of the card's ATS, at most 15.
    public let historicalBytes: [UInt8]

    private let state: Mutex<Type4State>

    /// What differs between real cards.
    public struct Configuration: Sendable, Hashable {
        /// The mapping version byte: `10`, `20` or `30`. Version 1 has the older application name and no other.
        public var version: UInt8 = 0x20
        /// MLe: the most bytes that one READ BINARY may ask for.
        public var longestAnswer: UInt16 = 0x00FF
        /// MLc: the most bytes that one UPDATE BINARY may bring.
        public var longestCommand: UInt16 = 0x00FF
        /// The identifier of the NDEF file.
        public var fileID: UInt16 = 0xE104
        /// The size of the NDEF file, with its length field.
        public var fileSize = 256
        /// Whether the capability container describes the file by block 06 (mapping 3): the length field has 4 bytes.
        public var isExtended = false
        /// The access bytes of the file: `00` free, `FF` never (writing), else proprietary. Reading and writing is refused
        /// for any but `00`.
        public var readAccess: UInt8 = 0x00
        /// See ``readAccess``.
        public var writeAccess: UInt8 = 0x00
        /// Whether SELECT with P2 = 0C is refused, as by cards of the first mapping version.
        public var refusesSelectWithoutAnswer = false
        /// What happens when a read asks for more bytes than the file has behind its offset.
        public var overread = Overread.endReached
        /// Whether the capability container may be written, by which a tag is made read-only.
        public var containerIsWritable = true
        /// The most bytes that UPDATE BINARY really takes, if that is less than the card states; `nil`: what it states.
        public var longestWrite: Int?
        /// The most bytes in one answer; the rest is announced with `61xx`. `nil`: everything at once.
        public var partLength: Int?

        /// What a card does when a read asks for more than there is.
        public enum Overread: Sendable, Hashable, CaseIterable {
            /// The bytes that there are, and `6282`.
            case endReached
            /// `6Cxx` with the number of bytes that there are.
            case wrongLength
            /// The bytes that there are, and `9000`.
            case silent
        }

        /// Mapping version 2, a file of 256 bytes, no oddities. Change what shall differ.
        public init() {}
    }

    /// A tag that holds the message; an empty one is a formatted tag without a message.
    ///
    /// The part of the message that does not fit into the file is cut off, and its length field is not: that is a torn
    /// tag.
    public init(
        message: [UInt8] = [],
        configuration: Configuration = Configuration(),
        uid: [UInt8] = [0x04, 0x46, 0x3A, 0x7B, 0x2C, 0x5D, 0x80],
        historicalBytes: [UInt8] = []
    ) {
        self.uid = uid
        self.historicalBytes = Array(historicalBytes.prefix(15))
        state = Mutex(Type4State(configuration: configuration, message: message))
    }

    /// A card with ISO/IEC 14443-4.
    public var kind: SimulatedCardKind { .isoDEP(historicalBytes: historicalBytes) }

    /// The NDEF file: its length field and what follows. It can be set to anything.
    public var file: [UInt8] {
        get { state.withLock { $0.file } }
        set { state.withLock { $0.file = newValue } }
    }

    /// The capability container. It can be set to anything; what the card itself allows follows its configuration.
    public var container: [UInt8] {
        get { state.withLock { $0.container } }
        set { state.withLock { $0.container = newValue } }
    }

    /// Nothing is selected yet.
    public func powerOn() { state.withLock { $0.deselect() } }

    /// What was selected is forgotten.
    public func powerOff() { state.withLock { $0.deselect() } }

    /// Answers a command APDU.
    public func receive(apdu: [UInt8]) -> [UInt8]? {
        guard let command = try? CommandAPDU(bytes: apdu) else { return Status.wrongLength }
        return state.withLock { $0.answer(command) }
    }
}

private struct Type4State {
    let configuration: SimulatedType4Tag.Configuration
    var container: [UInt8]
    var file: [UInt8]

    private var isApplicationSelected = false
    private var selected: UInt16?
    private var pending: [UInt8] = []

    init(configuration: SimulatedType4Tag.Configuration, message: [UInt8]) {
        self.configuration = configuration
        let sizeLength = configuration.isExtended ? 4 : 2
        let size = max(0, configuration.fileSize)
        container =
            [0x00, configuration.isExtended ? 17 : 15, configuration.version]
            + [UInt8].bigEndian(Int(configuration.longestAnswer), 2)
            + [UInt8].bigEndian(Int(configuration.longestCommand), 2)
            + [configuration.isExtended ? 0x06 : 0x04, configuration.isExtended ? 8 : 6]
            + [UInt8].bigEndian(Int(configuration.fileID), 2)
            + [UInt8].bigEndian(size, sizeLength)
            + [configuration.readAccess, configuration.writeAccess]
        let content = [UInt8].bigEndian(message.count, sizeLength) + message
        file = content.padded(to: size)
    }

    mutating func deselect() {
        isApplicationSelected = false
        selected = nil
        pending = []
    }

    mutating func answer(_ command: CommandAPDU) -> [UInt8] {
        guard command.cla == 0x00 else { return Status.unknownClass }
        if command.ins != Instruction.getResponse { pending = [] }
        switch command.ins {
        case Instruction.select: return select(command)
        case Instruction.readBinary:
            return read(command, offset: Int(command.p1) << 8 | Int(command.p2), asObject: false)
        case Instruction.withObjects(Instruction.readBinary): return readObject(command)
        case Instruction.getResponse: return part(command.expectedLength ?? 256)
        case Instruction.updateBinary:
            return write(command.data, offset: Int(command.p1) << 8 | Int(command.p2), length: command.data.count)
        case Instruction.withObjects(Instruction.updateBinary): return writeObject(command)
        default: return Status.unknownInstruction
        }
    }

    // MARK: SELECT

    private mutating func select(_ command: CommandAPDU) -> [UInt8] {
        switch (command.p1, command.p2) {
        case (0x04, 0x00):
            let name: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, configuration.version >> 4 == 1 ? 0x00 : 0x01]
            isApplicationSelected = command.data == name
            selected = nil
            return isApplicationSelected ? Status.success : Status.notFound
        case (0x00, 0x0C) where configuration.refusesSelectWithoutAnswer:
            return Status.wrongP1P2
        case (0x00, 0x0C), (0x00, 0x00):
            guard isApplicationSelected, command.data.count == 2 else { return Status.notFound }
            let id = UInt16(command.data[0]) << 8 | UInt16(command.data[1])
            guard id == 0xE103 || id == configuration.fileID else { return Status.notFound }
            selected = id
            return Status.success
        default:
            return Status.wrongP1P2
        }
    }

    // MARK: READ BINARY

    private mutating func read(_ command: CommandAPDU, offset: Int, asObject: Bool) -> [UInt8] {
        guard let selected else { return Status.notAllowed }
        if selected != 0xE103, configuration.readAccess != 0 { return Status.security }
        if !asObject, offset > 0x7FFF { return Status.wrongParameters }
        let content = selected == 0xE103 ? container : file
        guard offset < content.count else { return Status.wrongParameters }
        guard let expected = command.expectedLength,
            expected <= max(15, Int(configuration.longestAnswer)) || expected == 256
        else { return Status.wrongLength }
        let header = asObject ? (expected > 129 ? 3 : 2) : 0
        let wanted = max(0, min(expected, Int(configuration.longestAnswer)) - header)
        let there = content.count - offset
        if wanted > there, configuration.overread == .wrongLength {
            return [0x6C, UInt8(truncatingIfNeeded: there + header)]
        }
        var data = Array(content[offset..<offset + min(wanted, there)])
        if asObject {
            data = (data.count > 127 ? [0x53, 0x81, UInt8(data.count & 0xFF)] : [0x53, UInt8(data.count)]) + data
        }
        let status = wanted > there && configuration.overread == .endReached ? Status.endOfData : Status.success
        guard let partLength = configuration.partLength, partLength > 0, data.count > partLength else {
            return data + status
        }
        pending = data
        return [0x61, UInt8(truncatingIfNeeded: min(data.count, 256))]
    }

    private mutating func readObject(_ command: CommandAPDU) -> [UInt8] {
        guard configuration.version >> 4 >= 3, let offset = objectOffset(command.data), command.data.count == 5 else {
            return Status.unknownInstruction
        }
        return read(command, offset: offset, asObject: true)
    }

    private mutating func part(_ length: Int) -> [UInt8] {
        guard !pending.isEmpty else { return Status.notAllowed }
        let part = Array(pending.prefix(min(length, configuration.partLength ?? 256)))
        pending.removeFirst(part.count)
        let rest = UInt8(truncatingIfNeeded: min(pending.count, 256))
        return part + (pending.isEmpty ? Status.success : [0x61, rest])
    }

    private func objectOffset(_ data: [UInt8]) -> Int? {
        guard data.count >= 5, data[0] == 0x54, data[1] == 0x03 else { return nil }
        return Int(data[2]) << 16 | Int(data[3]) << 8 | Int(data[4])
    }

    // MARK: UPDATE BINARY

    /// `length` is that of the whole command data, which the card's limit is about.
    private mutating func write(_ data: [UInt8], offset: Int, length: Int) -> [UInt8] {
        guard let selected else { return Status.notAllowed }
        let isContainer = selected == 0xE103
        guard isContainer ? configuration.containerIsWritable : mayWrite else { return Status.security }
        let longest = min(Int(configuration.longestCommand), configuration.longestWrite ?? .max)
        guard !data.isEmpty, length <= longest else { return Status.wrongLength }
        let count = isContainer ? container.count : file.count
        guard offset + data.count <= count else { return Status.wrongParameters }
        if isContainer { container.overwrite(at: offset, with: data) } else { file.overwrite(at: offset, with: data) }
        return Status.success
    }

    private var mayWrite: Bool {
        let place = configuration.isExtended ? 16 : 14
        return configuration.writeAccess == 0 && !(container.indices.contains(place) && container[place] == 0xFF)
    }

    private mutating func writeObject(_ command: CommandAPDU) -> [UInt8] {
        guard configuration.version >> 4 >= 3, let offset = objectOffset(command.data) else {
            return Status.unknownInstruction
        }
        let object = command.data.dropFirst(5)
        guard object.first == 0x53, let length = object.dropFirst().first else { return Status.wrongData }
        let value = length == 0x81 ? object.dropFirst(3) : object.dropFirst(2)
        let size = length == 0x81 ? object.dropFirst(2).first.map(Int.init) : Int(length)
        guard value.count == size else { return Status.wrongData }
        return write(Array(value), offset: offset, length: command.data.count)
    }
}
