import type { VNode } from 'preact'
import { BidiText, StepForm } from '../../pages/page-shell.pages.tsx'
import { type PagePerson, PersonLine } from '../../pages/person.pages.tsx'
import { Message } from '../../pages/words.pages.tsx'
import { StepPage, type StepPageProps } from './step/step-page.pages.tsx'

/**
 * Asks whether to continue as the signed-in user (prompt=select_account). Posts `step=continue`,
 * `step=switch` or `step=cancel`.
 */
export const SelectAccountPage = ({ person, ...page }: StepPageProps & { person: PagePerson }): VNode => (
  <StepPage
    {...page}
    title={<Message of="select.title" />}
    lead={<Message of="signIn.toContinueTo" client={<BidiText>{page.client.name}</BidiText>} />}
    alternatives={null}
  >
    <div class="signed-in">
      <PersonLine person={person} />
    </div>
    <StepForm interaction={page.interaction} class="choice">
      <button type="submit" name="step" value="continue" class="primary">
        <Message of="action.continue" />
      </button>
      <button type="submit" name="step" value="switch" class="secondary">
        <Message of="select.other" />
      </button>
    </StepForm>
  </StepPage>
)
