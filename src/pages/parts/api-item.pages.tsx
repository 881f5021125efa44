import type { VNode } from 'preact'
import { BidiText } from '../page-shell.pages.tsx'
import { Message } from './words.pages.tsx'

/** An API that a client may use on behalf of the user, by its name. */
export const ApiItem = ({ api }: { api: string }): VNode => (
  <li>
    <Message
      of="consent.useApi"
      api={
        <strong>
          <BidiText>{api}</BidiText>
        </strong>
      }
    />
  </li>
)
