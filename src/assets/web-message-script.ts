import { assetPath } from './asset-path.ts'

/**
 * Tells the window that asked: the one around a frame, else the one that opened a popup, which closes. Browsers deliver
 * the message to the target origin alone, whoever is there. What is told, and to which origin, the page's own element
 * says (web-message.pages.tsx).
 */
export const WEB_MESSAGE_SCRIPT = `
(() => {
  'use strict'
  const { message, origin } = document.getElementById('answer').dataset
  const isFramed = window.parent !== window
  const asking = isFramed ? window.parent : window.opener
  if (!asking) return
  asking.postMessage(JSON.parse(message), origin)
  if (!isFramed) window.close()
})()
`

export const WEB_MESSAGE_SCRIPT_PATH = assetPath(WEB_MESSAGE_SCRIPT, 'js')
