import { toAssetPath } from './asset-path.ts'

/**
 * Submits a code when it has all its digits, of any script, also one that was entered before the script had loaded, but
 * not one that is found on the way back. Counts down to when a new one can be requested, with the button disabled until
 * then. The countdown is not announced to screen readers, its end is. Without it, the page has the words of the time
 * when it was sent.
 */
export const CODE_SCRIPT = `(() => {
  const find = (id) => document.getElementById(id)
  const input = find('code')
  let sent = false
  const check = () => {
    if (sent || input.value.match(/\\p{Nd}/gu)?.length != input.dataset.digits) return
    sent = true
    input.form.requestSubmit()
  }
  input.oninput = check
  addEventListener('pageshow', () => { sent = false })
  if (performance.getEntriesByType('navigation')[0]?.type != 'back_forward') check()
  const hint = find('resend-wait')
  if (!hint) return
  const button = find('resend')
  const texts = JSON.parse(hint.dataset.texts)
  const rules = new Intl.PluralRules(document.documentElement.lang)
  const end = performance.now() + hint.dataset.seconds * 1000
  const tick = () => {
    const left = Math.ceil((end - performance.now()) / 1000)
    const wait = left > 0
    button.disabled = wait
    hint.textContent = wait ? texts[rules.select(left)].replace('#', left) : ''
    if (wait) return setTimeout(tick, 250)
    const ready = find('resend-ready')
    ready.textContent = ready.dataset.text
  }
  tick()
})()
`

export const CODE_SCRIPT_PATH = toAssetPath(CODE_SCRIPT, 'js')
