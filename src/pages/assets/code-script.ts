import { toAssetPath } from './asset-path.ts'

/**
 * Submits a code when it has all its digits, of any script, and counts down to when a new one can be requested, with
 * the button disabled until then. The countdown is not announced to screen readers, its end is. Without it, the page
 * has the words of the time when it was sent.
 */
export const CODE_SCRIPT = `(() => {
  const input = document.getElementById('code')
  let isSent = false
  addEventListener('pageshow', () => { isSent = false })
  input.addEventListener('input', () => {
    if (isSent || (input.value.match(/\\p{Nd}/gu) ?? []).length !== Number(input.dataset.digits)) return
    isSent = true
    input.form.requestSubmit()
  })
  const hint = document.getElementById('resend-wait')
  if (!hint) return
  const button = document.getElementById('resend')
  const texts = JSON.parse(hint.dataset.texts)
  const rules = new Intl.PluralRules(document.documentElement.lang)
  const end = performance.now() + hint.dataset.seconds * 1000
  const tick = () => {
    const left = Math.ceil((end - performance.now()) / 1000)
    button.disabled = left > 0
    hint.textContent = left > 0 ? texts[rules.select(left)].replace('#', left) : ''
    if (left > 0) setTimeout(tick, 250)
    else {
      const ready = document.getElementById('resend-ready')
      ready.textContent = ready.dataset.text
    }
  }
  tick()
})()
`

export const CODE_SCRIPT_PATH = toAssetPath(CODE_SCRIPT, 'js')
