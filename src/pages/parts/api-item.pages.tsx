import type { VNode } from 'preact'
import { StrongText } from './controls.pages.tsx'
import { Message } from './words.pages.tsx'

/** An API that a client may use on behalf of the user, by its name. */
export const ApiItem = ({ api }: { api: string }): VNode => (
  <li>
    <Message of="consent.useApi" api={<StrongText>{api}</StrongText>} />
  </li>
)
