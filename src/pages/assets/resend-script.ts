import { toAssetPath } from './asset-path.ts'

/**
 * Counts down to when a new code can be requested, and disables the button until then. The countdown is not
 * announced to screen readers, its end is. Without it, the page has the words of the time when it was sent.
 */
export const RESEND_SCRIPT = `(() => {
  const hint = document.getElementById('resend-wait')
  const button = document.getElementById('resend')
  const end = performance.now() + hint.dataset.seconds * 1000
  const tick = () => {
    const left = Math.ceil((end - performance.now()) / 1000)
    button.disabled = left > 0
    hint.textContent = left > 0 ? 'You can request a new code in ' + left + (left === 1 ? ' second.' : ' seconds.') : ''
    if (left > 0) setTimeout(tick, 250)
    else document.getElementById('resend-ready').textContent = 'You can request a new code now.'
  }
  tick()
})()
`

export const RESEND_SCRIPT_PATH = toAssetPath(RESEND_SCRIPT, 'js')
