/// The functions of libpcsclite that this package uses, as a replaceable table.
///
/// Each entry is one C call in Swift's types, named after it. Tests put faults here that no virtual reader can show;
/// ``system`` is the library itself. Every function may block.
package struct PCSCLibrary: Sendable {
    /// `SCARDCONTEXT`
    package typealias Context = Int
    /// `SCARDHANDLE`
    package typealias Handle = Int

    /// One entry of `SCARD_READERSTATE`.
    package struct ReaderState: Sendable, Hashable {
        package var name: String
        package var current: UInt32
        package var event: UInt32
        package var atr: [UInt8]

        package init(name: String, current: UInt32 = 0, event: UInt32 = 0, atr: [UInt8] = []) {
            self.name = name
            self.current = current
            self.event = event
            self.atr = atr
        }
    }

    /// `dwShareMode`
    package enum Sharing: UInt32, Sendable {
        case exclusive = 1
        case shared = 2
        case direct = 3
    }

    /// `dwDisposition` and `dwInitialization`: what becomes of the card.
    package enum Disposition: UInt32, Sendable {
        case leave = 0
        case reset = 1
        case unpower = 2
    }

    /// `INFINITE`
    package static let infinite: UInt32 = 0xFFFF_FFFF
    /// The pseudo-reader whose state changes when readers come and go.
    package static let plugAndPlay = #"\\?PnP?\Notification"#

    package var establishContext: @Sendable () -> (code: PCSCCode, context: Context)
    package var releaseContext: @Sendable (Context) -> PCSCCode
    package var listReaders: @Sendable (Context) -> (code: PCSCCode, names: [String])
    package var getStatusChange: @Sendable (Context, _ milliseconds: UInt32, inout [ReaderState]) -> PCSCCode
    package var cancel: @Sendable (Context) -> PCSCCode
    package var connect:
        @Sendable (Context, _ reader: String, Sharing, _ protocols: UInt32) -> (
            code: PCSCCode, handle: Handle, protocol: UInt32
        )
    package var reconnect:
        @Sendable (Handle, Sharing, _ protocols: UInt32, Disposition) -> (code: PCSCCode, protocol: UInt32)
    package var disconnect: @Sendable (Handle, Disposition) -> PCSCCode
    package var beginTransaction: @Sendable (Handle) -> PCSCCode
    package var endTransaction: @Sendable (Handle, Disposition) -> PCSCCode
    package var transmit:
        @Sendable (Handle, _ protocol: UInt32, UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) -> (
            code: PCSCCode, count: Int
        )
    package var control: @Sendable (Handle, _ code: UInt32, [UInt8]) -> (code: PCSCCode, answer: [UInt8])
    package var getAttribute: @Sendable (Handle, _ id: UInt32) -> (code: PCSCCode, value: [UInt8])
}

/// The bits of `dwEventState`; its upper half counts insertions and removals.
enum PCSCState {
    static let changed: UInt32 = 0x0002
    static let unknown: UInt32 = 0x0004
    static let unavailable: UInt32 = 0x0008
    static let present: UInt32 = 0x0020
    static let mute: UInt32 = 0x0200

    static func counter(_ state: UInt32) -> Int { Int(state >> 16) }
}
