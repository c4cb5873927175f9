/// A handover with the records that its carriers name.
public struct NDEFHandoverMessage: Sendable, Hashable {
    /// The content of the handover record.
    public var handover: NDEFHandover

    /// The carriers in the order of ``NDEFHandover/carriers``, each with its records.
    public var carriers: [Carrier]

    /// A carrier with its records.
    public struct Carrier: Sendable, Hashable {
        /// Whether the carrier is switched on.
        public var power: NDEFHandover.PowerState

        /// The record that configures the carrier, or `nil` if the message has none with that identifier, which only
        /// ``NDEFMode/lenient`` accepts. ``NDEFRecord/media`` and ``NDEFRecord/content`` read it.
        public var configuration: NDEFRecord?

        /// The records that say more. Those that the message does not have are left out, which only
        /// ``NDEFMode/lenient`` accepts.
        public var auxiliary: [NDEFRecord]
    }
}

extension NDEFMessage {
    /// The first handover of the message, with the records of the message that its carriers name by their identifiers.
    ///
    /// - Returns: `nil` if the message has no Handover Request or Select record of major version 1.
    /// - Throws: The rule that the handover record breaks. In ``NDEFMode/strict`` also
    ///   ``NDEFError/Code/handoverReferenceMissing`` and ``NDEFError/Code/handoverReferenceAmbiguous``; in
    ///   ``NDEFMode/lenient`` a record that is missing is left out, and of several the first counts. Offsets are counted
    ///   from the start of the handover record's payload.
    public func handover(
        mode: NDEFMode = .strict,
        limits: NDEFLimits = .default
    ) throws(NDEFError) -> NDEFHandoverMessage? {
        for (index, record) in records.enumerated() {
            guard let parsed = try NDEFHandoverPayload.parse(record, mode: mode, limits: limits) else { continue }
            // One pass over the records, so that many references to many records cost no more than their sum.
            var found: [[UInt8]: (record: NDEFRecord, isAmbiguous: Bool)] = [:]
            for (other, candidate) in records.enumerated() where other != index {
                guard let id = candidate.id else { continue }
                if found[id] == nil { found[id] = (candidate, false) } else { found[id]?.isAmbiguous = true }
            }
            func resolve(_ id: [UInt8], at offset: Int) throws(NDEFError) -> NDEFRecord? {
                guard let entry = found[id] else {
                    if mode == .lenient { return nil }
                    throw NDEFError(.handoverReferenceMissing, at: offset)
                }
                if entry.isAmbiguous, mode == .strict { throw NDEFError(.handoverReferenceAmbiguous, at: offset) }
                return entry.record
            }
            var carriers: [NDEFHandoverMessage.Carrier] = []
            for (carrier, offset) in zip(parsed.handover.carriers, parsed.carrierOffsets) {
                let configuration = try resolve(carrier.reference, at: offset)
                var auxiliary: [NDEFRecord] = []
                for id in carrier.auxiliary {
                    if let record = try resolve(id, at: offset) { auxiliary.append(record) }
                }
                carriers.append(
                    NDEFHandoverMessage.Carrier(
                        power: carrier.power,
                        configuration: configuration,
                        auxiliary: auxiliary
                    )
                )
            }
            return NDEFHandoverMessage(handover: parsed.handover, carriers: carriers)
        }
        return nil
    }
}
