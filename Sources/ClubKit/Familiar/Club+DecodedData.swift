import Foundation
import ReaderKit

/// Scanned texts, taken as in the original library.
extension Club {
    /// What ``CaptureLayerDecodedData/decodedData`` holds of a tap.
    public var decodedDataFormat: DecodedDataParseFormat { familiar.withLock { $0.decodedDataFormat } }

    /// Sets what ``CaptureLayerDecodedData/decodedData`` holds of a tap. Who the member is does not depend on it.
    public func setDecodedDataParse(format: DecodedDataParseFormat) {
        familiar.withLock { $0.decodedDataFormat = format }
    }

    /// Takes a scanned text as a tap: one of an application's own scanner, or one that
    /// ``CaptureMiddlewareDelegate/capture(_:didReceive:for:withResult:)-swift.method`` handed out, which the club counts
    /// once all the same.
    ///
    /// Taps are recorded in the order in which they are given. What becomes of one is told to ``events`` and the delegate.
    ///
    /// - Returns: why the text is no tap: a ``CKError``, or ``ClubError/Kind/notOpen``; `nil` if it is being recorded.
    @discardableResult
    public func onDecodedData(
        decodedData: CaptureLayerDecodedData?,
        device: CaptureLayerDevice
    ) -> (any Error)? {
        do {
            let tap = try tap(of: decodedData, on: device)
            _ = try openStore("record a tap")
            familiar.withLock { state in
                let before = state.lastDecoded
                state.lastDecoded = Task {
                    await before?.value
                    // What fails is told to events and the delegate.
                    _ = try? await self.receive(tap)
                }
            }
            return nil
        } catch {
            return error
        }
    }

    private func tap(of data: CaptureLayerDecodedData?, on device: CaptureLayerDevice) throws(CKError) -> ScanEvent {
        if let tap = data?.scan { return tap }
        guard let data, data.decodedData != nil else {
            throw .nullDecodedData("Nothing was read from the card. Present it again.")
        }
        guard let text = data.stringFromDecodedData() else {
            throw .nonExistentUTF8DecodedDataString(
                "What was read is no text in UTF-8. Check how the card was written."
            )
        }
        guard let information = CaptureDataInformation(captureDataString: text) else {
            throw .invalidPassInformation(
                "What was read is no membership text of four fields, number|id|payload|name. Write the card anew."
            )
        }
        let name = information.username.isEmpty ? nil : information.username
        return ScanEvent(
            id: configuration.makeUUID(),
            at: configuration.clock(),
            reader: device.reader.name,
            backend: device.reader.backend,
            card: data.dataSourceName ?? "unknown",
            passes: [Pass(kind: .text, id: information.passId, assurance: .identifier, name: name)],
            memberKey: information.passId,
            memberName: name
        )
    }
}
