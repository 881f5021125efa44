import { createContext, type VNode } from 'preact'
import { useContext } from 'preact/hooks'
import { SUBMIT_SCRIPT_PATH } from './assets/submit-script.ts'

/** The forms of a page that is rendered: whether there are any. */
export const PageForms = createContext({ isShown: false })

/** Says that the page has a form, whose script sends it once. */
export function useForm(): void {
  useContext(PageForms).isShown = true
}

/** The script of the forms of a page, after all of them; none without a form. */
export const FormScript = (): VNode | null =>
  useContext(PageForms).isShown ? <script src={SUBMIT_SCRIPT_PATH} defer /> : null
