/// How something of the readers' side went, in the spelling and with the numbers of the original library's reader kit.
///
/// It only says whether it went well. What went wrong is told as an error, by
/// ``ClubMiddlewareDelegate/club(_:didReceive:)``.
public enum CaptureLayerResult: Int, Sendable, Hashable, CaseIterable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// It went well.
    case E_NOERROR = 0
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// This reader, or this build, cannot do it.
    case E_NOTSUPPORTED = -15
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// A value that was given cannot be used.
    case E_INVALIDPARAMETER = -18
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// What it needs is not there (yet, or any more).
    case E_NOTINITIALIZED = -19
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The club could not be opened.
    case E_UNABLEINITIALIZE = -21
}
