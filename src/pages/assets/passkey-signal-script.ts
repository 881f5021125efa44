import { toAssetPath } from './asset-path.ts'

/**
 * The script of a page that follows a sign-in (passkey-signal.pages.tsx), as text, because tsc would compile a file
 * to a module; a browser test covers every line. It names the accepted passkeys of the user to the browser.
 */
export const PASSKEY_SIGNAL_SCRIPT = `
(() => {
  'use strict'
  const accepted = JSON.parse(document.currentScript.dataset.accepted)
  window.PublicKeyCredential?.signalAllAcceptedCredentials?.(accepted).catch(() => {})
})()
`

export const PASSKEY_SIGNAL_SCRIPT_PATH = toAssetPath(PASSKEY_SIGNAL_SCRIPT, 'js')
