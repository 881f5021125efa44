import { toAssetPath } from './asset-path.ts'

/**
 * Sends each form once: further submissions, such as those of a double click or of Enter after a code that submitted
 * itself, would drop the response to the first. A form can be sent again when the browser comes back to the page, and
 * after a while, because the response may be a download or may not arrive.
 */
export const SUBMIT_SCRIPT = `(() => {
  const AGAIN_MS = 5000
  const sent = new Map()
  const free = (form) => {
    sent.get(form)?.removeAttribute('aria-busy')
    sent.delete(form)
  }
  addEventListener('submit', (event) => {
    const form = event.target
    if (event.defaultPrevented) return
    if (sent.has(form)) return event.preventDefault()
    const button = event.submitter ?? form.querySelector('[type=submit]')
    button?.setAttribute('aria-busy', 'true')
    sent.set(form, button)
    setTimeout(() => free(form), AGAIN_MS)
  })
  addEventListener('pageshow', () => [...sent.keys()].forEach(free))
})()
`

export const SUBMIT_SCRIPT_PATH = toAssetPath(SUBMIT_SCRIPT, 'js')
