import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { assetPath } from './asset-path.ts'

const require = createRequire(import.meta.url)

/** What turns options into calls of the browser, and its answers into JSON, where the browser itself cannot yet. */
const LIBRARY = readFileSync(
  join(dirname(require.resolve('@simplewebauthn/browser')), '../dist/bundle/index.umd.min.js'),
  'utf8',
)

/** What stands below the button while nothing is under way. */
export const ENROLMENT_HINT = 'You can do this once with the link that brought you here.'

/**
 * What the enrolment page does, as the browser runs it. As text, since tsc would make a module of a file; a browser test
 * runs every line. What it works on, the page's own elements say (enrolment.pages.tsx).
 */
const PAGE = `
(() => {
  'use strict'
  const root = document.getElementById('enrol')
  if (!root) return
  const { browserSupportsWebAuthn, startRegistration } = SimpleWebAuthnBrowser
  const { token, path } = root.dataset
  const button = document.getElementById('enrol-button')
  const status = document.getElementById('enrol-status')
  const fault = document.getElementById('enrol-fault')
  const FAULTS = {
    NotAllowedError: 'Nothing was created: it was cancelled, or took too long. Try again when you are ready.',
    InvalidStateError: 'This device already has a passkey for this account. You can close this page.',
    NotSupportedError: 'This device cannot keep a passkey. Open the link on another one.',
    SecurityError: 'This browser does not create passkeys at this address.',
    ConstraintError: 'Set up a screen lock on this device first, then try again.',
  }
  const OFFLINE = 'The connection failed. Check it and try again.'
  const NO_PASSKEYS = 'This browser cannot create passkeys. Open the link in another browser or on another device.'
  let busy = false

  function complain(words) {
    fault.replaceChildren()
    if (!words) return
    const line = document.createElement('p')
    line.className = 'fault'
    line.textContent = words
    fault.append(line)
  }

  function setBusy(value) {
    busy = value
    // Not disabled: that would take the focus away from whoever uses a keyboard.
    button.setAttribute('aria-disabled', String(value))
    status.textContent = value ? 'Follow the steps on your device…' : '${ENROLMENT_HINT}'
  }

  async function call(step, body) {
    const response = await fetch(path + step, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, ...body }),
    }).catch(() => { throw { words: OFFLINE } })
    // The page says it better, with whom to ask.
    if (response.status === 410) return location.reload(), new Promise(() => {})
    const answer = await response.json().catch(() => ({}))
    if (!response.ok) throw { words: answer.message || 'Something went wrong. Try again.' }
    return answer
  }

  async function enrol() {
    if (busy) return
    setBusy(true)
    complain(null)
    try {
      const optionsJSON = await call('/options')
      const response = await startRegistration({ optionsJSON })
      await call('/credential', { response })
      // In place of this page, so that the link is not what the back button leads to.
      location.replace(path + '/done')
    } catch (error) {
      setBusy(false)
      // The library wraps what the browser said in an error of the same name.
      complain(error.words || FAULTS[error.name] || (error.cause && FAULTS[error.cause.name]) || 'Something went wrong. Try again.')
      button.focus()
    }
  }

  if (!browserSupportsWebAuthn()) return complain(NO_PASSKEYS)
  button.addEventListener('click', enrol)
  root.hidden = false
  button.focus()
})()
`

/** The script of the enrolment page. */
export const ENROLMENT_SCRIPT = `${LIBRARY}\n${PAGE}`

export const ENROLMENT_SCRIPT_PATH = assetPath(ENROLMENT_SCRIPT, 'js')
