/// The half of a ``Club`` that deals with readers, under the name of the original library.
public typealias CaptureMiddleware = Club

/// Is told what happens to the readers of a club, while the club serves some. Every method has an empty default.
///
/// The methods are called on the queue of ``Club/setDispatchQueue(_:)``, in order with those of
/// ``ClubMiddlewareDelegate``; what is said there of the class that conforms holds here too. What went wrong is told by
/// ``ClubMiddlewareDelegate/club(_:didReceive:)`` besides.
public protocol CaptureMiddlewareDelegate: AnyObject {
    /// The service behind readers (pcscd) is there, for the first time or again. Its readers follow.
    func capture(
        _ capture: CaptureMiddleware,
        didNotifyArrivalForManager deviceManager: CaptureLayerDeviceManager,
        result: CaptureLayerResult
    )

    /// The service behind readers is not there: `E_NOTINITIALIZED` when it was lost or not found, `E_NOERROR` when the
    /// club no longer serves it. Its readers were reported as removed before.
    func capture(
        _ capture: CaptureMiddleware,
        didNotifyRemovalForManager deviceManager: CaptureLayerDeviceManager,
        result: CaptureLayerResult
    )

    /// A reader is there.
    func capture(
        _ capture: CaptureMiddleware,
        didNotifyArrivalFor device: CaptureLayerDevice,
        result: CaptureLayerResult
    )

    /// A reader is gone.
    func capture(
        _ capture: CaptureMiddleware,
        didNotifyRemovalFor device: CaptureLayerDevice,
        result: CaptureLayerResult
    )

    /// The charge of a reader's battery changed, in percent. Nothing calls it yet: no reader of this library reports its
    /// charge.
    func capture(_ capture: CaptureMiddleware, batteryLevelDidChange value: Int, for device: CaptureLayerDevice)

    /// A card was presented; what the club makes of it follows. `nil` when it left before anything could be read.
    func capture(
        _ capture: CaptureMiddleware,
        didReceive decodedData: CaptureLayerDecodedData?,
        for device: CaptureLayerDevice,
        withResult result: CaptureLayerResult
    )
}

extension CaptureMiddlewareDelegate {
    /// Does nothing.
    public func capture(
        _ capture: CaptureMiddleware,
        didNotifyArrivalForManager deviceManager: CaptureLayerDeviceManager,
        result: CaptureLayerResult
    ) {}

    /// Does nothing.
    public func capture(
        _ capture: CaptureMiddleware,
        didNotifyRemovalForManager deviceManager: CaptureLayerDeviceManager,
        result: CaptureLayerResult
    ) {}

    /// Does nothing.
    public func capture(
        _ capture: CaptureMiddleware,
        didNotifyArrivalFor device: CaptureLayerDevice,
        result: CaptureLayerResult
    ) {}

    /// Does nothing.
    public func capture(
        _ capture: CaptureMiddleware,
        didNotifyRemovalFor device: CaptureLayerDevice,
        result: CaptureLayerResult
    ) {}

    /// Does nothing.
    public func capture(
        _ capture: CaptureMiddleware,
        batteryLevelDidChange value: Int,
        for device: CaptureLayerDevice
    ) {}

    /// Does nothing.
    public func capture(
        _ capture: CaptureMiddleware,
        didReceive decodedData: CaptureLayerDecodedData?,
        for device: CaptureLayerDevice,
        withResult result: CaptureLayerResult
    ) {}
}
