import type { VNode } from 'preact'
import { getInitial } from '../../core/initial.ts'
import { BidiText, type PageInteraction } from '../page-shell.pages.tsx'
import { StepButton } from './controls.pages.tsx'
import { Message } from './words.pages.tsx'

/** The signed-in person. Pages show the name and the address, as far as known. */
export type PagePerson = { name?: string | null; email?: string | null; phoneNumber?: string | null }

/** Shows who is signed in. */
export function PersonLine({ person }: { person: PagePerson }): VNode {
  const address = person.email || person.phoneNumber
  const shown = [person.name, address].filter(Boolean) as string[]
  return (
    <div class="person">
      <span class="person-mark" aria-hidden="true">
        {getInitial(shown[0] ?? '?')}
      </span>
      <div class="person-text">
        <span class="hint">
          <Message of="person.signedInAs" />
        </span>
        {shown.map((text, index) => (
          <span class={index === 0 ? 'person-name' : 'hint'} key={text}>
            <BidiText>{text}</BidiText>
          </span>
        ))}
      </div>
    </div>
  )
}

/** The signed-in user, with a way to switch. Posts `step=switch`. */
export const SignedInAs = ({
  interaction,
  person,
}: {
  interaction: PageInteraction
  person: PagePerson
}): VNode => (
  <div class="signed-in">
    <PersonLine person={person} />
    <StepButton interaction={interaction} step="switch" of="person.notYou" look="quiet" />
  </div>
)
