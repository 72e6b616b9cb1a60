/** Secret that was sealed with a key that no process has. */
export const LOST_SECRET = '$sealed$v1$00000000$AAAA';

/** Survey, as JSON, whose default answer was sealed with a lost key. */
export const LOST_SURVEY = JSON.stringify({
  name: '',
  description: '',
  spec: [
    {
      type: 'password',
      variable: 'token',
      question_name: 'Token',
      required: false,
      min: 0,
      max: 99,
      default: LOST_SECRET,
    },
  ],
});
