import Foundation

/// A device of libnfc and the card that is selected on it. Lives and dies on the thread of its ``NFCReader``.
final class NFCDevice {
    enum Framing: Hashable {
        /// The protocol of the card that was selected: ISO-DEP, MIFARE Classic, FeliCa, Jewel (`NP_EASY_FRAMING`).
        case easy
        /// The checksum alone.
        case checksum
        /// Nothing. For frames whose answers may be four bits: the chip takes those for a damaged checksum.
        case none
    }

    let connection: NFCConnectionString
    let aborter: NFCAborter
    private let library: NFCLibrary
    private let configuration: NFCConfiguration
    private let watch: CallWatch
    private let openPort: @Sendable (String) throws(ReaderError) -> NFCPort

    private var handle: NFCLibrary.Device?
    private var port: NFCPort?
    private var framing: Framing?
    /// What is looked for, and in how many looks in a row it was refused while another kind was answered.
    private var modulations: [(modulation: NFCModulation, refusals: Int)] = []
    private var failedLooks = 0

    private(set) var target: NFCTarget?

    /// How often a kind of card is refused before it is not looked for any more.
    private static let mostRefusals = 3

    init(
        connection: NFCConnectionString,
        library: NFCLibrary,
        configuration: NFCConfiguration,
        watch: CallWatch,
        openPort: @escaping @Sendable (String) throws(ReaderError) -> NFCPort
    ) {
        self.connection = connection
        self.library = library
        self.configuration = configuration
        self.watch = watch
        self.openPort = openPort
        aborter = NFCAborter(library: library)
    }

    var isOpen: Bool { handle != nil }

    /// Whether the last look was answered for one kind of card at least.
    var answers: Bool { failedLooks == 0 }

    var technologies: [Technology] {
        var found: [Technology] = []
        for (modulation, _) in modulations where !found.contains(modulation.technology) {
            found.append(modulation.technology)
        }
        return found
    }

    // MARK: - Calls

    private func call<Value>(_ attempt: String, _ body: (NFCLibrary.Device) -> Value) throws(ReaderError) -> Value {
        guard let handle else { throw NFCCode.noSuchDevice.error(attempting: attempt) }
        aborter.begin()
        defer { aborter.end() }
        return try watch.call(attempt) { body(handle) }
    }

    private func require(_ attempt: String, _ body: (NFCLibrary.Device) -> NFCCode) throws(ReaderError) {
        let code = try call(attempt, body)
        guard code.isSuccess else { throw code.error(attempting: attempt) }
    }

    /// A call whose failure means nothing, unless the device is lost.
    private func attempt(_ attempt: String, _ body: (NFCLibrary.Device) -> NFCCode) throws(ReaderError) {
        let code = try call(attempt, body)
        if code.meansDeviceLost { throw code.error(attempting: attempt) }
    }

    // MARK: - Opening

    /// Opens the device and makes it a reader; `false` if it is not there.
    func open(in context: NFCLibrary.Context) throws(ReaderError) -> Bool {
        close()
        if let path = connection.path {
            guard DeviceNode.exists(path) else { return false }
            do throws(ReaderError) {
                port = try openPort(path)
            } catch {
                if error.kind == .readerUnavailable { return false }
                throw error
            }
        }
        do throws(ReaderError) {
            guard try openDevice(in: context) else {
                close()
                return false
            }
            try prepare()
            return true
        } catch {
            close()
            throw error
        }
    }

    private func openDevice(in context: NFCLibrary.Context) throws(ReaderError) -> Bool {
        let attempt = "open the reader \(connection.text)"
        // What a chip still had to send may spoil the first attempt.
        for _ in 0..<2 {
            if connection.isSerialPN532 { port?.wakeUp(speed: connection.speed) }
            let opened = try watch.call(
                attempt,
                late: { if let device = $0 { library.close(device) } },
                { library.open(context, connection.text) }
            )
            guard let opened else { continue }
            handle = opened
            aborter.setDevice(opened)
            port?.makeExclusive()
            return true
        }
        // Without a node nobody can report whether it is not there or does not answer.
        guard connection.path != nil else { return false }
        throw ReaderError(
            .readerUnavailable,
            attempting: attempt,
            detail: "libnfc finds no reader of that kind there",
            advice: "Check the driver and the speed in the connection string, and the reader's wiring and power."
        )
    }

    private func prepare() throws(ReaderError) {
        try require("switch the reader on") { library.initiatorInit($0) }
        try require("set the reader up") { library.setProperty($0, .infiniteSelect, false) }
        framing = .easy
        let (code, found) = try call("ask what the reader can do") { library.modulations($0) }
        if code.meansDeviceLost { throw code.error(attempting: "ask what the reader can do") }
        // A reader that does not report it is tried.
        let isTold = code.isSuccess && !found.isEmpty
        modulations = NFCModulation.allCases.filter { !isTold || found.contains($0) }.map { ($0, 0) }
        failedLooks = 0
    }

    /// Lets the device go. What cannot be ended is gone already.
    func close() {
        target = nil
        framing = nil
        modulations = []
        if let handle = handle.take() {
            aborter.setDevice(nil)
            if watch.isAbandoned {
                library.close(handle)
            } else {
                _ = try? watch.call("close the reader") { library.close(handle) }
            }
        }
        // Not where the call above hangs: then the line is still libnfc's.
        port = nil
    }

    func information() throws(ReaderError) -> String? {
        let (code, text) = try call("ask for the reader's details") { library.information($0) }
        if code.meansDeviceLost { throw code.error(attempting: "ask for the reader's details") }
        return code.isSuccess && !text.isEmpty ? text : nil
    }

    // MARK: - Cards

    /// Looks for a card of any kind, once. Throws if the device has to be opened anew.
    func find() throws(ReaderError) -> NFCTarget? {
        let attempt = "look for a card"
        target = nil
        try set(.easy)
        var fault: NFCCode?
        var isAnswered = false
        var refused: [Int] = []
        for index in modulations.indices {
            let modulation = modulations[index].modulation
            let (code, found) = try call(attempt) { library.select($0, modulation, []) }
            if code.meansDeviceLost { throw code.error(attempting: attempt) }
            if code.isRefusal { refused.append(index) } else { modulations[index].refusals = 0 }
            if code.isSuccess {
                isAnswered = true
            } else if code != .aborted {
                fault = code
            }
            if !code.isSuccess, !code.isRefusal { try forgetLateAnswer() }
            if code.isSuccess, let found, found.isAnswer {
                failedLooks = 0
                target = found
                return try completed(found)
            }
        }
        // A reader that refuses all kinds does not say which of them it cannot look for.
        if isAnswered {
            for index in refused { modulations[index].refusals += 1 }
            modulations.removeAll { $0.refusals >= Self.mostRefusals }
        }
        failedLooks = isAnswered || fault == nil ? 0 : failedLooks + 1
        if let fault, failedLooks >= max(1, configuration.looksBeforeReopening) {
            throw fault.error(attempting: attempt)
        }
        return nil
    }

    /// Waits for the answer to a look that ended without one: it would be taken for that to the next look, and its bytes for
    /// the identifier of a card of another kind. The chip answers in order, and answers to other commands are
    /// distinguished.
    private func forgetLateAnswer() throws(ReaderError) {
        for _ in 0..<3 {
            let code = try call("look for a card") { library.setProperty($0, .activateField, true) }
            if code.isSuccess || code == .noSuchDevice { return }
        }
    }

    /// A Jewel or Topaz shows the first four bytes of its identifier; the rest stands in its first block.
    private func completed(_ found: NFCTarget) throws(ReaderError) -> NFCTarget {
        guard found.modulation == .jewel, let start = found["uid"], start.count == 4 else { return found }
        let (code, answer) = try transceive([0x00, 0x00, 0x00] + start, milliseconds: 1000)
        if code.meansDeviceLost { throw code.error(attempting: "read the identifier of the card") }
        // Two bytes of header, then the memory, which begins with the identifier.
        guard code.isSuccess, answer.count >= 9, answer[2..<6].elementsEqual(start) else { return found }
        var whole = found
        whole.values = found.values.map { $0.name == "uid" ? .init("uid", Array(answer[2..<9])) : $0 }
        target = whole
        return whole
    }

    /// Whether the selected card answers a question that changes nothing.
    func ping() throws(ReaderError) -> NFCCode {
        try set(.easy)
        let code = try call("see whether the card is there") { library.isPresent($0) }
        if code.meansDeviceLost { throw code.error(attempting: "see whether the card is there") }
        return code
    }

    /// Selects a card anew, so that it is in the state in which it came; `false` if it is not there.
    ///
    /// - Parameter dropsField: whether to take the field away for a moment if the card does not come otherwise.
    func reselect(_ wanted: NFCTarget, dropsField: Bool) throws(ReaderError) -> Bool {
        let attempt = "select the card again"
        target = nil
        try set(.easy)
        // Only these ignore being called while they are selected.
        if wanted.isISODEP { try self.attempt(attempt) { library.deselect($0) } }
        if try select(wanted, attempt) { return true }
        guard dropsField || wanted.isISODEP else { return false }
        try dropField()
        return try select(wanted, attempt)
    }

    /// Takes the field away for a moment, so that every card in it begins anew. A card that is still in a conversation of
    /// before does not hear that cards are looked for.
    func dropField() throws(ReaderError) {
        let attempt = "switch the reader's field off and on"
        try self.attempt(attempt) { library.setProperty($0, .activateField, false) }
        // Cards keep their state for up to 5 ms without a field (ISO/IEC 14443-3), and take as long to begin.
        Thread.sleep(forTimeInterval: 0.01)
        try self.attempt(attempt) { library.setProperty($0, .activateField, true) }
        Thread.sleep(forTimeInterval: 0.005)
    }

    private func select(_ wanted: NFCTarget, _ attempt: String) throws(ReaderError) -> Bool {
        for _ in 0..<2 {
            let (code, found) = try call(attempt) { library.select($0, wanted.modulation, wanted.selection) }
            if code.meansDeviceLost { throw code.error(attempting: attempt) }
            guard code.isSuccess else { continue }
            guard let found, found.isSame(as: wanted) else { return false }
            // A random identifier is another one now.
            target = wanted.hasRandomIdentifier ? found : wanted
            return true
        }
        return false
    }

    // MARK: - Exchanges

    /// Sets what the chip does of the card's protocol. A failure states nothing of the card.
    func set(_ wanted: Framing) throws(ReaderError) {
        guard framing != wanted else { return }
        framing = nil
        try set(.easyFraming, wanted == .easy)
        try set(.handleCRC, wanted != .none)
        framing = wanted
    }

    private func set(_ property: NFCLibrary.Property, _ value: Bool) throws(ReaderError) {
        let attempt = "set the reader's framing"
        let code = try call(attempt) { library.setProperty($0, property, value) }
        guard !code.isSuccess else { return }
        var error = code.error(attempting: attempt)
        if !code.meansDeviceLost { error.kind = .communication }
        throw error
    }

    func transceive(_ bytes: [UInt8], milliseconds: Int32) throws(ReaderError) -> (code: NFCCode, answer: [UInt8]) {
        try call("exchange data with the card") { library.transceive($0, bytes, milliseconds) }
    }

    func transceiveBits(
        _ bytes: [UInt8],
        bits: Int
    ) throws(ReaderError) -> (code: NFCCode, answer: [UInt8], bits: Int) {
        try call("exchange bits with the card") { library.transceiveBits($0, bytes, bits) }
    }
}
