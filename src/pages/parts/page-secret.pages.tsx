import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

/** Whether the page that is rendered shows a secret. */
export const PageSecret = createContext({ isShown: false })

/**
 * Marks the page as one that shows a secret. It is not compressed: its length would tell how much of a secret an
 * attacker has guessed in another part of the page (BREACH).
 */
export function markSecret(): void {
  useContext(PageSecret).isShown = true
}
