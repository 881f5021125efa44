import {
  CheckSetting,
  ChoiceSetting,
  DurationSetting,
  LinesSetting,
  NumberSetting,
  SelectionSetting,
  TextSetting,
} from '../../parts/setting-fields.tsx'
import { SettingsForm, useSettings } from '../../parts/settings-form.tsx'
import { describeSignIn } from './describe-sign-in.ts'
import { SignUpFields } from './sign-up-fields.tsx'

const METHODS = {
  PASSCODE: 'Code by e-mail or text message',
  PASSKEY: 'Passkey',
  PROVIDER: 'Identity provider',
}
const CHANNELS = { EMAIL: 'E-mail', SMS: 'Text message' }
const SIGN_UP = {
  OFF: 'Created by administrators',
  OPEN: 'Anybody',
  DOMAINS: 'Addresses of some domains',
  INVITATION: 'By invitation',
}
const SECOND_FACTOR = {
  OFF: 'Nobody',
  IF_ENROLLED: 'Users who have an authenticator app',
  REQUIRED: 'Everybody',
}
const ROLES = { ADMIN: 'Administrator', SUPPORT: 'Support', AUDITOR: 'Auditor' }
const STAY_SIGNED_IN = {
  ALWAYS: 'Keep the sign-in',
  ASK: 'Ask the person',
  OFF: 'Forget the sign-in',
}

const countryNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** The names of country codes; those that are none are left out. */
const describeCountries = (codes: readonly string[]): string =>
  codes
    .filter((code) => /^[A-Z]{2}$/.test(code))
    .map((code) => countryNames.of(code))
    .filter(Boolean)
    .join(', ')

function Sections() {
  const { values } = useSettings()
  return (
    <>
      <p className="card lead" aria-live="polite">
        {describeSignIn(values)}
      </p>
      <div className="setting-cards">
        <section className="card">
          <h2>Methods</h2>
          <SelectionSetting
            name="signInMethods"
            options={METHODS}
            isOrdered
            hint="The page offers them in this order."
          />
          <SelectionSetting name="passcodeChannels" options={CHANNELS} />
          <CheckSetting name="offerPasskey" hint="After another method, once in 30 days." />
        </section>
        <section className="card">
          <h2>Sign-up</h2>
          <ChoiceSetting name="signUp" options={SIGN_UP} />
          {values.signUp === 'DOMAINS' && (
            <LinesSetting name="signUpDomains" hint="One a line. A subdomain is another domain." />
          )}
          <SignUpFields />
          <DurationSetting name="invitationLifetimeSeconds" />
        </section>
        <section className="card">
          <h2>Terms</h2>
          <TextSetting name="termsUrl" type="url" placeholder="https://" hint="A new user agrees to them." />
          <TextSetting
            name="termsVersion"
            hint="Another version asks everybody to agree, at the next sign-in."
          />
          <TextSetting name="privacyUrl" type="url" placeholder="https://" />
        </section>
        <section className="card">
          <h2>Second factor</h2>
          <ChoiceSetting
            name="secondFactor"
            options={SECOND_FACTOR}
            hint="A passkey is two factors by itself."
          />
          <SelectionSetting
            name="secondFactorRoles"
            options={ROLES}
            hint="These present one, whatever is chosen above."
          />
          <DurationSetting
            name="recoveryWaitingTime"
            hint="The user can cancel the recovery until then. 0 is at once."
          />
        </section>
        <section className="card">
          <h2>Sessions and accounts</h2>
          <ChoiceSetting name="staySignedIn" options={STAY_SIGNED_IN} />
          <DurationSetting name="sessionIdleSeconds" />
          <DurationSetting name="sessionLifetimeSeconds" />
          <CheckSetting name="newDeviceNotice" hint="Once for each browser." />
          <NumberSetting
            name="accountDeletionDays"
            hint="After a user has asked for it. 0: users cannot delete their accounts."
          />
        </section>
        <section className="card">
          <h2>Text messages</h2>
          <LinesSetting
            name="smsCountries"
            hint={`Codes of ISO 3166-1, one a line; all countries when empty. ${describeCountries(values.smsCountries)}`}
          />
          <TextSetting
            name="phoneCountry"
            hint={`Such as CH. ${describeCountries([values.phoneCountry ?? ''])}`}
          />
          <NumberSetting name="smsDailyLimit" hint="0 sends none." />
          <NumberSetting
            name="smsPrefixLimit"
            hint="Numbers that differ in the last four digits only, and whose codes are not used."
          />
        </section>
        <section className="card">
          <h2>Limits</h2>
          <NumberSetting
            name="networkCodeLimit"
            hint="Of browsers in which the address did not sign in before."
          />
          <NumberSetting name="networkFailureLimit" hint="And as many rejected passkeys." />
        </section>
      </div>
    </>
  )
}

/** The settings of the sign-in, as a sentence and as a form. */
export const SignInScreen = () => (
  <SettingsForm title="Sign-in">
    <Sections />
  </SettingsForm>
)
