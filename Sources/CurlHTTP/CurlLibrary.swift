#if NETWORK
import CCurl
import Glibc

/// libcurl's functions, loaded at the first use: linked they would make each start of a program longer.
///
/// `@unchecked Sendable`: nothing of it changes once it is made.
struct CurlLibrary: @unchecked Sendable {
    let makeEasy: @convention(c) () -> UnsafeMutableRawPointer?
    let cleanEasy: @convention(c) (UnsafeMutableRawPointer?) -> Void
    let set: clubkit_curl_setopt
    let describe: @convention(c) (CURLcode) -> UnsafePointer<CChar>?
    let append:
        @convention(c) (UnsafeMutablePointer<curl_slist>?, UnsafePointer<CChar>?) -> UnsafeMutablePointer<curl_slist>?
    let freeList: @convention(c) (UnsafeMutablePointer<curl_slist>?) -> Void
    let makeMulti: @convention(c) () -> UnsafeMutableRawPointer?
    let cleanMulti: @convention(c) (UnsafeMutableRawPointer?) -> CURLMcode
    let add: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> CURLMcode
    let remove: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> CURLMcode
    let perform: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?) -> CURLMcode
    let poll:
        @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UInt32, Int32, UnsafeMutablePointer<Int32>?)
            -> CURLMcode
    let wakeUp: @convention(c) (UnsafeMutableRawPointer?) -> CURLMcode
    let message:
        @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?) -> UnsafeMutablePointer<CURLMsg>?

    /// The library of this machine, or why there is none.
    static let shared: Result<CurlLibrary, CurlError> = Result { () throws(CurlError) in try CurlLibrary() }

    private init() throws(CurlError) {
        // It stays loaded: it has threads of its own.
        guard let library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL) else {
            let reason = dlerror().map { String(cString: $0) } ?? "there is no libcurl"
            throw CurlError(.unavailable, "\(reason). Install libcurl (libcurl4)")
        }
        func function<Function>(_ name: String) throws(CurlError) -> Function {
            guard let symbol = dlsym(library, name) else { throw CurlError(.unavailable, "libcurl has no \(name)") }
            return unsafeBitCast(symbol, to: Function.self)
        }
        let version: @convention(c) (CURLversion) -> UnsafeMutablePointer<curl_version_info_data>? = try function(
            "curl_version_info"
        )
        // 7.88, which has all that is asked for.
        guard let found = version(CURLVERSION_FIRST)?.pointee, found.version_num >= 0x07_58_00 else {
            throw CurlError(.unavailable, "libcurl is older than 7.88. Install a newer one")
        }
        makeEasy = try function("curl_easy_init")
        cleanEasy = try function("curl_easy_cleanup")
        set = try function("curl_easy_setopt")
        describe = try function("curl_easy_strerror")
        append = try function("curl_slist_append")
        freeList = try function("curl_slist_free_all")
        makeMulti = try function("curl_multi_init")
        cleanMulti = try function("curl_multi_cleanup")
        add = try function("curl_multi_add_handle")
        remove = try function("curl_multi_remove_handle")
        perform = try function("curl_multi_perform")
        poll = try function("curl_multi_poll")
        wakeUp = try function("curl_multi_wakeup")
        message = try function("curl_multi_info_read")
        let start: @convention(c) (Int) -> CURLcode = try function("curl_global_init")
        guard start(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else {
            throw CurlError(.unavailable, "libcurl does not start")
        }
    }
}
#endif
