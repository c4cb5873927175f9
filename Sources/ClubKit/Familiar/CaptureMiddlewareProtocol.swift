import ReaderKit

/// What the half of a club that deals with readers can do, for applications that put something else in its place.
public protocol CaptureMiddlewareProtocol: AnyObject {
    /// See ``Club/capture``.
    var capture: (any ReaderBackend)? { get }

    /// See ``Club/setCapture(instance:)``.
    @discardableResult func setCapture(instance: (any ReaderBackend)?) -> Club

    /// See ``Club/numberOfFailedOpenCaptureAttempts``.
    var numberOfFailedOpenCaptureAttempts: Int { get }

    /// See ``Club/open(withAppKey:appId:developerId:completion:)``.
    func open(
        withAppKey appKey: String,
        appId: String,
        developerId: String,
        completion: ((CaptureLayerResult) -> Void)?
    )

    /// See ``Club/close(_:)``.
    func close(_ completion: ((CaptureLayerResult) -> Void)?)

    /// See ``Club/onDecodedData(decodedData:device:)``.
    @discardableResult func onDecodedData(
        decodedData: CaptureLayerDecodedData?,
        device: CaptureLayerDevice
    ) -> (any Error)?

    /// See ``Club/decodedDataFormat``.
    var decodedDataFormat: Club.DecodedDataParseFormat { get }

    /// See ``Club/setDecodedDataParse(format:)``.
    func setDecodedDataParse(format: Club.DecodedDataParseFormat)

    /// See ``Club/startAutoDiscovery(numSeconds:completion:)``.
    func startAutoDiscovery(numSeconds: Int, completion: @escaping ([DiscoveredDeviceInfo]) -> Void)

    /// See ``Club/setFavorite(discoveredDeviceInfo:)``.
    func setFavorite(discoveredDeviceInfo: DiscoveredDeviceInfo)

    /// See ``Club/resetFavorite()``.
    func resetFavorite()
}
