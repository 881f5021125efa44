import { toAssetPath } from './asset-path.ts'
import { CEREMONY_FUNCTIONS } from './ceremony-script.ts'

/**
 * The script of the passkey's part of the first sign-in page (passkey-entry.pages.tsx), as text, because tsc
 * would compile a file to a module; a browser test covers every line. It offers passkeys in the address field,
 * and by a button. A passkey that does not exist any more is reported to its provider. Each form of the page says
 * whether the device can create a passkey.
 */
export const PASSKEY_SCRIPT = `
(() => {
  'use strict'
  const root = document.getElementById('passkey')
  if (!root || !window.PublicKeyCredential || !navigator.credentials) return
  const form = root.querySelector('form')
  const button = document.getElementById('passkey-button')
  const errorArea = document.getElementById('passkey-error')
  const { challenge, rpId, timeout, unknown } = root.dataset
  const messages = JSON.parse(root.dataset.messages)
  let pending
${CEREMONY_FUNCTIONS}
  async function signIn(mediation) {
    if (pending) pending.abort()
    const { signal } = (pending = new AbortController())
    const credential = await navigator.credentials.get({
      signal,
      mediation,
      publicKey: { challenge: decode(challenge), rpId, timeout: Number(timeout), userVerification: 'required' },
    })
    const { clientDataJSON, authenticatorData, signature, userHandle } = credential.response
    form.elements.assertion.value = JSON.stringify({
      id: credential.id,
      rawId: encode(credential.rawId),
      type: credential.type,
      response: {
        clientDataJSON: encode(clientDataJSON),
        authenticatorData: encode(authenticatorData),
        signature: encode(signature),
        userHandle: userHandle ? encode(userHandle) : null,
      },
    })
    form.submit()
  }

  button.addEventListener('click', () => {
    showError(null)
    signIn().catch((error) => {
      showError(messages[error.name] || messages.other)
      offer()
    })
  })

  // Errors of the offer are not shown: the user did not ask for it.
  async function offer() {
    const isAvailable = PublicKeyCredential.isConditionalMediationAvailable
    if (document.getElementById('address') && isAvailable && (await isAvailable.call(PublicKeyCredential)))
      await signIn('conditional')
  }

  if (unknown && PublicKeyCredential.signalUnknownCredential)
    PublicKeyCredential.signalUnknownCredential({ rpId, credentialId: unknown }).catch(() => {})
  // Users who sign in by another method are offered a passkey only where they can create one.
  async function describeBrowser() {
    if (!(await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable())) return
    for (const each of document.forms) {
      const input = document.createElement('input')
      Object.assign(input, { type: 'hidden', name: 'platform', value: '1' })
      each.append(input)
    }
  }

  // A page that the back button restores has an old challenge.
  addEventListener('pageshow', (event) => event.persisted && location.reload())
  root.hidden = false
  offer().catch(() => {})
  describeBrowser().catch(() => {})
})()
`

export const PASSKEY_SCRIPT_PATH = toAssetPath(PASSKEY_SCRIPT, 'js')
