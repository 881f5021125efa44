import { describeBasicModules } from './plan-modules.ts'

describeBasicModules('form_post')
