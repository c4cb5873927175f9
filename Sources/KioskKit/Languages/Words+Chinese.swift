import ClubKit

extension Words {
    static func chinese(_ key: Key) -> Phrase {
        switch key {
        case .holdCard: "请将会员卡或手机靠近此处"
        case .place: "读卡器位置：{place}"
        case .idle: "欢迎刷卡或使用手机"
        case .join: "加入会员：{address}"
        case .reading: "正在读取……请勿移动"
        case .holdLonger: "请再多停留片刻"
        case .welcome: "欢迎光临"
        case .welcomeName: "欢迎您，{name}"
        case .firstVisit: "这是您第一次到访，很高兴见到您！"
        case .visitNumber: "第 {number} 次到访"
        case .milestone: "这是您的第 {number} 次到访，恭喜！"
        case .birthday: "祝您生日快乐！"
        case .birthdayName: "{name}，祝您生日快乐！"
        case .alreadyCounted: "已记录"
        case .alreadyCountedNote: "您的本次到访已经记录过了。"
        case .notRecognised: "无法识别此卡"
        case .visitsLeft: [.other: "剩余 {count} 次"]
        case .membershipEnds: "您的会员资格将于 {date} 到期"
        case .stampsLeft: [.other: "再来 {count} 次即可获得：{reward}"]
        case .announcement: "通知"
        case .outOfOrder: "此读卡器暂停使用"
        case .askAtDesk: "请咨询前台。"
        case .cannotRecord: "目前无法记录到访"
        case .maintenance: "设备维护中"
        case .noReader: "工作人员：未连接读卡器，请插上读卡器。"
        case .serviceLost: "工作人员：读卡器服务 (pcscd) 没有响应。"
        case .readerStuck: "工作人员：读卡器 {reader} 没有响应，请拔下后重新插上。"
        case .clockWrong: "工作人员：本机时钟未设置，显示为{date}，请校正时间。"
        case .someone: "会员"
        case .outcomeFirstVisit: "首次到访"
        case .outcomeVisit: "到访"
        case .outcomeRepeat: "已记录"
        case .outcomeIgnored: "未计入"
        case .outcomeRefused: "被拒绝"
        case .visitsToday: [.other: "今日到访 {count} 次"]
        case .latestTaps: "最近刷卡"
        case .tapsToday: "今日刷卡"
        case .connecting: "正在连接……"
        case .disconnected: "与终端的连接已断开，正在重试……"
        case .soundOn: "打开声音"
        case .soundOff: "关闭声音"
        case .reason(let code): chinese(code).title
        case .advice(let code): chinese(code).advice
        }
    }

    private static func chinese(_ code: Receipt.Reason.Code) -> Reason {
        switch code {
        case .unknownCard: ("无法识别此卡", "如需入会，请咨询前台。")
        case .noIdentifier: ("未能读取任何信息", "请重试，或咨询前台。")
        case .invalidIdentifier: ("此卡上的会员号无效", "请咨询前台。")
        case .invalidTime: ("本设备的时钟有误", "请咨询前台。")
        case .cardBlocked: ("此卡已停用", "请使用新卡，或咨询前台。")
        case .blocked: ("此会员资格已停用", "请咨询前台。")
        case .expired: ("您的会员资格已到期", "如需续期，请咨询前台。")
        case .noVisitsLeft: ("您的次数已用完", "如需增加次数，请咨询前台。")
        case .erased: ("此记录已被删除", "请咨询前台。")
        case .maintenance: ("设备维护中", "请稍后再试，或咨询前台。")
        case .card(let problem):
            switch problem {
            case .cardRemoved: ("移开得太早", "请靠近读卡器，直到听到提示。")
            case .readFailed: ("无法读取此卡", "请再靠近一些，并保持不动。")
            case .phoneLocked: ("您的手机已锁定", "请解锁后再次靠近此处。")
            case .phoneNeedsOwner: ("请在手机上选择", "请选择会员卡，然后再次靠近此处。")
            case .tagCorrupt: ("此卡已损坏", "请咨询前台。")
            case .ndefMalformed: ("此卡上的数据已损坏", "请咨询前台。")
            case .invalidPass: ("此卡上的会员凭证无效", "请咨询前台。")
            case .passNotAccepted: ("无法验证此凭证", "请咨询前台。")
            case .passReplayed: ("此凭证已被使用过", "请直接使用会员卡或手机。")
            case .passExpired: ("此凭证已过期", "请检查手机时间，或咨询前台。")
            case .passNotTrusted: ("此卡不足以验证身份", "请使用您的会员凭证。")
            case .noPass: ("您的手机上没有会员卡", "请将会员卡添加到手机钱包。")
            case .tagProtected: ("此卡上的数据已锁定", "请咨询前台。")
            case .tagUnsupported: ("不支持此类卡", "请使用其他卡。")
            case .invalidUID: ("此卡没有有效的卡号", "请使用其他卡。")
            case .nonUniqueUID: ("此卡的卡号不唯一", "请使用其他卡。")
            case .randomUID: ("此卡的卡号每次都会变化", "请使用其他卡。")
            }
        }
    }
}
