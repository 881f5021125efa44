import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { toAssetPath } from './asset-path.ts'
import { SHOW_ERROR_FUNCTION } from './ceremony-script.ts'

const require = createRequire(import.meta.url)

/** Converts WebAuthn options and credentials from and to JSON, for browsers without their own conversion. */
const WEBAUTHN_LIBRARY = readFileSync(
  join(dirname(require.resolve('@simplewebauthn/browser')), '../dist/bundle/index.umd.min.js'),
  'utf8',
)

/**
 * The script of the enrollment page, as text, because tsc would compile a file to a module; a browser test
 * covers every line. Its parameters are in data attributes of the page (enrollment.pages.tsx).
 */
const PAGE_SCRIPT = `
(() => {
  'use strict'
  const root = document.getElementById('enrollment')
  if (!root) return
  const { browserSupportsWebAuthn, startRegistration } = SimpleWebAuthnBrowser
  const { token, path, query = '' } = root.dataset
  const button = document.getElementById('enrollment-button')
  const status = document.getElementById('enrollment-status')
  const errorArea = document.getElementById('enrollment-error')
  const messages = JSON.parse(root.dataset.messages)
  let busy = false
${SHOW_ERROR_FUNCTION}
  function setBusy(value) {
    busy = value
    // Not disabled, which would remove the keyboard focus.
    button.setAttribute('aria-disabled', String(value))
    status.textContent = value ? messages.busy : messages.idle
  }

  async function call(step, body) {
    const response = await fetch(path + step, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, ...body }),
    }).catch(() => { throw { text: messages.offline } })
    // The reloaded page explains that the link has expired.
    if (response.status === 410) return location.reload(), new Promise(() => {})
    const answer = await response.json().catch(() => ({}))
    if (!response.ok) throw { text: messages.other }
    return answer
  }

  // Passkeys of the account that are not accepted any more disappear from the device, where the browser listens.
  async function signalAccepted({ rp, user, excludeCredentials }, id) {
    if (PublicKeyCredential.signalAllAcceptedCredentials)
      await PublicKeyCredential.signalAllAcceptedCredentials({
        rpId: rp.id,
        userId: user.id,
        allAcceptedCredentialIds: [...excludeCredentials.map((each) => each.id), id],
      }).catch(() => {})
  }

  async function enroll() {
    if (busy) return
    setBusy(true)
    showError(null)
    try {
      const optionsJSON = await call('/options')
      const response = await startRegistration({ optionsJSON })
      await call('/credential', { response })
      await signalAccepted(optionsJSON, response.id)
      // Replaces this page, so that the back button does not lead to the used link.
      location.replace(path + '/done' + query)
    } catch (error) {
      setBusy(false)
      // The library wraps the browser's error in one of the same name.
      showError(error.text || messages[error.name] || (error.cause && messages[error.cause.name]) || messages.other)
      button.focus()
    }
  }

  if (!browserSupportsWebAuthn()) return showError(messages.unsupported)
  button.addEventListener('click', enroll)
  root.hidden = false
  button.focus()
})()
`

/** The script of the enrollment page. */
export const ENROLLMENT_SCRIPT = `${WEBAUTHN_LIBRARY}\n${PAGE_SCRIPT}`

export const ENROLLMENT_SCRIPT_PATH = toAssetPath(ENROLLMENT_SCRIPT, 'js')
