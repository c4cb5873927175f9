import Foundation
import ReaderKit

/// The commands of earlier sessions, in `$XDG_STATE_HOME/clubkit/apdu-history` with mode 0600: one a line, without
/// those that may hold a key, a password or a PIN.
struct CommandHistory {
    static let longest = 1000

    /// The commands, the oldest first.
    private(set) var lines: [String] = []

    private let path: String
    private var secrets = APDUSecrets()

    /// Reads the history; a file that cannot be read is none.
    init(path: String = CommandHistory.defaultPath) {
        self.path = path
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return }
        let all = text.split(separator: "\n").map(String.init).filter { $0.utf8.count <= 4096 }
        lines = all.suffix(Self.longest)
        // A file twice as long as it need be is cut; what fails here fails again, and is reported, when a line is
        // added.
        if all.count > 2 * Self.longest { try? write(lines, O_TRUNC) }
    }

    private static var defaultPath: String {
        let environment = ProcessInfo.processInfo.environment
        // A relative path is not valid there (XDG base directories).
        let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (state ?? NSHomeDirectory() + "/.local/state") + "/clubkit/apdu-history"
    }

    /// Keeps a line, unless it is the last one again or may hold a secret.
    ///
    /// - Parameter command: what the line means, or `nil` for one that is no command to the card.
    mutating func add(_ line: String, _ command: CardCommand?) throws {
        // A remark may hold anything.
        let line = line.prefix { $0 != "#" }.trimmingCharacters(in: .whitespaces)
        guard !line.isEmpty, !holdsSecret(command), line != lines.last, line.utf8.count <= 4096 else { return }
        lines.append(line)
        try write([line], O_APPEND)
    }

    /// Whether keys, passwords or PINs may be in a command: in any that carries data, but for those that select and read.
    /// Better one too many than one too few.
    private mutating func holdsSecret(_ command: CardCommand?) -> Bool {
        switch command {
        case nil: return false
        case .apdu(let shorthand):
            let command = shorthand.command
            if secrets.isSecret(command) { return true }
            let readsOnly: Set<UInt8> = [
                Instruction.select, Instruction.readBinary, Instruction.withObjects(Instruction.readBinary),
                Instruction.readRecord, Instruction.getResponse, Instruction.getData,
                Instruction.withObjects(Instruction.getData),
            ]
            return !command.data.isEmpty && (command.cla == 0xFF || !readsOnly.contains(command.ins))
        case .frame(let frame):
            // READ, FAST_READ, GET_VERSION, READ_CNT, READ_SIG.
            return switch (frame.bytes.first, frame.bytes.count) {
            case (0x30, 2), (0x3A, 3), (0x60, 1), (0x39, 2), (0x3C, 2): false
            default: true
            }
        }
    }

    private func write(_ lines: [String], _ mode: Int32) throws {
        let folder = FileSteps.parent(of: path)
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | mode, 0o600)
        guard file >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        fchmod(file, 0o600)
        try handle.write(contentsOf: Data(lines.map { $0 + "\n" }.joined().utf8))
    }
}
