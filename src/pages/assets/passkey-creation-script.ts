import { toAssetPath } from './asset-path.ts'
import { CEREMONY_FUNCTIONS } from './ceremony-script.ts'

/**
 * The script of pages that create a passkey (passkey-creation.pages.tsx), as text, because tsc would compile a
 * file to a module; a browser test covers every line. It creates the passkey and posts it.
 */
export const PASSKEY_CREATION_SCRIPT = `
(() => {
  'use strict'
  const root = document.getElementById('passkey-creation')
  if (!root || !window.PublicKeyCredential || !navigator.credentials) return
  const form = root.querySelector('form')
  const button = document.getElementById('passkey-creation-button')
  const errorArea = document.getElementById('passkey-creation-error')
  const messages = JSON.parse(root.dataset.messages)
  let busy = false
${CEREMONY_FUNCTIONS}
  async function create() {
    const options = JSON.parse(root.dataset.options)
    const credential = await navigator.credentials.create({
      publicKey: {
        ...options,
        challenge: decode(options.challenge),
        user: { ...options.user, id: decode(options.user.id) },
      },
    })
    const { clientDataJSON, attestationObject } = credential.response
    form.elements.registration.value = JSON.stringify({
      id: credential.id,
      rawId: encode(credential.rawId),
      type: credential.type,
      response: {
        clientDataJSON: encode(clientDataJSON),
        attestationObject: encode(attestationObject),
        transports: credential.response.getTransports ? credential.response.getTransports() : [],
      },
    })
    form.submit()
  }

  function setBusy(value) {
    busy = value
    // Not disabled, which would remove the keyboard focus.
    button.setAttribute('aria-disabled', String(value))
  }

  button.addEventListener('click', () => {
    if (busy) return
    setBusy(true)
    showError(null)
    create().catch((error) => {
      setBusy(false)
      showError(messages[error.name] || messages.other)
    })
  })
  root.hidden = false
  button.focus()
})()
`

export const PASSKEY_CREATION_SCRIPT_PATH = toAssetPath(PASSKEY_CREATION_SCRIPT, 'js')
