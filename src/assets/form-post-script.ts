import { assetPath } from './asset-path.ts'

/** Sends the form of a form_post response. Before the page has loaded, so that it takes no place in the history: going
 *  back must not send the same code again. */
export const FORM_POST_SCRIPT = `document.getElementById('answer').submit()\n`

export const FORM_POST_SCRIPT_PATH = assetPath(FORM_POST_SCRIPT, 'js')
