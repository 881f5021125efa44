/** The device grant type (RFC 8628, section 3.4). */
export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

/**
 * App types that may use the device grant. Single-page clients can be redirected to, and machine clients have
 * no user.
 */
export const DEVICE_APP_TYPES: readonly string[] = ['native', 'web']

/** Whether a client may use the device grant. */
export const canUseDevices = ({ appType }: { appType: string }): boolean => DEVICE_APP_TYPES.includes(appType)
