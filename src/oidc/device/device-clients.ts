/** The grant type of devices (RFC 8628, section 3.4). */
export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

/** Whose devices may be connected: a page in a browser has somewhere to be redirected to, and a machine has no person. */
export const DEVICE_APP_TYPES: readonly string[] = ['native', 'web']

/** Whether a client may have people connect devices to it. */
export const mayUseDevices = ({ appType }: { appType: string }): boolean => DEVICE_APP_TYPES.includes(appType)
