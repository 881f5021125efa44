import { toAssetPath } from './asset-path.ts'

/**
 * Posts the message to the window that started the request: the parent of a frame, or the opener of a popup,
 * which then closes. Browsers deliver it to the target origin only. Message and origin are in data attributes
 * of the page (response.pages.tsx).
 */
export const WEB_MESSAGE_SCRIPT = `
(() => {
  'use strict'
  const { message, origin } = document.getElementById('answer').dataset
  const isFramed = window.parent !== window
  const receiver = isFramed ? window.parent : window.opener
  if (!receiver) return
  receiver.postMessage(JSON.parse(message), origin)
  if (!isFramed) window.close()
})()
`

export const WEB_MESSAGE_SCRIPT_PATH = toAssetPath(WEB_MESSAGE_SCRIPT, 'js')
