import type { VNode } from 'preact'
import { STAY_SCRIPT_PATH } from '../assets/stay-script.ts'
import { Message } from './words.pages.tsx'

/**
 * The checkbox of a form: with a script that copies it into the other forms of the page, or for browsers without
 * scripts only.
 */
export type StayChoice = { kind: 'copied' | 'noscript'; isChecked: boolean }

const Box = ({ isChecked, id }: { isChecked: boolean; id?: string }): VNode => (
  <label class="check">
    <input type="checkbox" id={id} name="stay" value="1" checked={isChecked} />
    <span>
      <Message of="stay.label" />
    </span>
  </label>
)

/** Asks whether the browser keeps the sign-in when it is closed. Posts `stay=1`. */
export function StaySignedInBox({ stay }: { stay: StayChoice | null | undefined }): VNode | null {
  if (!stay) return null
  if (stay.kind === 'noscript')
    return (
      <noscript>
        <Box isChecked={stay.isChecked} />
      </noscript>
    )
  return (
    <>
      <Box isChecked={stay.isChecked} id="stay" />
      <script src={STAY_SCRIPT_PATH} defer />
    </>
  )
}
