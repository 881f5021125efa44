/** A function that shows an error below the button, as text. */
export const SHOW_ERROR_FUNCTION = `
  function showError(message) {
    errorArea.replaceChildren()
    if (!message) return
    const line = document.createElement('p')
    line.className = 'error'
    line.textContent = message
    errorArea.append(line)
  }
`

/**
 * Functions that the scripts of passkeys share, as text: base64url, and the error. They use no
 * library, because a page of a sign-in loads them.
 */
export const CEREMONY_FUNCTIONS = `
  const decode = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0))
  const encode = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=+$/, '')
${SHOW_ERROR_FUNCTION}`
