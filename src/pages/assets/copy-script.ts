import { toAssetPath } from './asset-path.ts'

/** Shows the button that copies recovery codes, one a line, in a browser that lets a page write the clipboard. */
export const COPY_SCRIPT = `(() => {
  const part = document.getElementById('copy')
  if (!navigator.clipboard) return
  part.hidden = false
  part.querySelector('button').addEventListener('click', async () => {
    const codes = [...document.querySelectorAll('.recovery-codes code')].map((code) => code.textContent)
    await navigator.clipboard.writeText(codes.join('\\n') + '\\n')
    const status = document.getElementById('copied')
    status.textContent = status.dataset.text
  })
})()
`

export const COPY_SCRIPT_PATH = toAssetPath(COPY_SCRIPT, 'js')
