import { toAssetPath } from './asset-path.ts'

/**
 * Copies the checkbox "Stay signed in" into the other forms of the page, so that it applies to each way to sign in.
 * Without it, the checkbox applies to its own form.
 */
export const STAY_SCRIPT = `(() => {
  const box = document.getElementById('stay')
  const copy = () => {
    for (const form of document.forms) {
      if (form === box.form) continue
      let input = form.elements.namedItem('stay')
      if (!input) {
        input = document.createElement('input')
        Object.assign(input, { type: 'hidden', name: 'stay' })
        form.append(input)
      }
      input.value = box.checked ? '1' : '0'
    }
  }
  box.addEventListener('change', copy)
  addEventListener('pageshow', copy)
})()
`

export const STAY_SCRIPT_PATH = toAssetPath(STAY_SCRIPT, 'js')
