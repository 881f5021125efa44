import type { VNode } from 'preact'
import { BidiText, StepForm } from '../../pages/page-shell.pages.tsx'
import { type PagePerson, PersonLine } from '../../pages/person.pages.tsx'
import { StepPage, type StepPageProps } from './step/step-page.pages.tsx'

/**
 * Asks whether to continue as the signed-in user (prompt=select_account). Posts `step=continue`,
 * `step=switch` or `step=cancel`.
 */
export const SelectAccountPage = ({ person, ...page }: StepPageProps & { person: PagePerson }): VNode => (
  <StepPage
    {...page}
    title="Choose an account"
    lead={
      <>
        to continue to <BidiText>{page.client.name}</BidiText>
      </>
    }
    alternatives={null}
  >
    <div class="signed-in">
      <PersonLine person={person} />
    </div>
    <StepForm interaction={page.interaction} class="choice">
      <button type="submit" name="step" value="continue" class="primary">
        Continue
      </button>
      <button type="submit" name="step" value="switch" class="secondary">
        Use another account
      </button>
    </StepForm>
  </StepPage>
)
