import { toAssetPath } from './asset-path.ts'

/**
 * Submits the form of a form_post response before the page has loaded, so that the page gets no history
 * entry: the back button must not send the code again.
 */
export const FORM_POST_SCRIPT = `document.getElementById('answer').submit()\n`

export const FORM_POST_SCRIPT_PATH = toAssetPath(FORM_POST_SCRIPT, 'js')
