/// The keys with which the sectors of a MIFARE Classic are tried.
///
/// The public keys are always among them; more are only those that are given here. No key is ever guessed.
public struct ClassicKeys: Sendable, Hashable {
    private var given: [Place: ClassicKey] = [:]

    private struct Place: Hashable {
        var sector: Int
        var side: ClassicKey.Side
    }

    /// The key B that a format gives to the sectors.
    ///
    /// It is needed to change the directory, to lock the card and to take it back. With the default, the factory key,
    /// anybody can do so.
    public var newKeyB: ClassicKey

    /// The public keys alone.
    ///
    /// - Parameter newKeyB: the key B that a format gives to the sectors.
    public init(newKeyB: ClassicKey = .factory) {
        self.newKeyB = newKeyB
    }

    /// The public keys alone, and the factory key as key B of formatted cards.
    public static let publicKeys = ClassicKeys()

    /// The key that was given for a side of a sector; it is tried before the public ones.
    public subscript(sector: Int, side: ClassicKey.Side) -> ClassicKey? {
        get { given[Place(sector: sector, side: side)] }
        set { given[Place(sector: sector, side: side)] = newValue }
    }

    /// The keys to try for a side of a sector, in order: the one given, the one of its use, the factory's.
    func candidates(_ sector: Int, _ side: ClassicKey.Side) -> [ClassicKey] {
        var keys: [ClassicKey] = []
        func add(_ key: ClassicKey?) {
            if let key, !keys.contains(key) { keys.append(key) }
        }
        add(self[sector, side])
        switch side {
        case .a: add(sector == 0 || sector == 16 ? .directory : .ndef)
        case .b: add(newKeyB)
        }
        add(.factory)
        return keys
    }
}

extension ClassicKeys: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How many keys were given, not which.
    public var description: String { "public MIFARE Classic keys and \(given.count) others" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing, so that no dump shows the keys.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
