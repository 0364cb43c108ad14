"""The step of F in NDFS, which notices where F had better move together with the weights of the features."""

from methods.core.indicators import FREE, SMALL, Indicators

# gamma as a multiple of a bound of M, up to which steps of F and W together pay.  Beyond, an entry that such a step
# brings to zero breaks the orthogonality of F, which costs more than the step gains.
STIFFEST = 1e3


class Separate(Indicators):
    """`Indicators` that says when F has settled with several entries in a row.

    Attributes
    ----------
    several : bool
        After `lowered`: no F with one entry in each row was as low as the F that it was given, and all steps with free
        entries together gained what each of them must.  Such steps creep, as each sweep begins them anew.
    """

    several = False

    def lowered(self, F):
        """Return an F whose value is no higher."""
        self.given = F
        return super().lowered(F)

    def freed(self, F, MF=None):
        """Return F after steps of all entries."""
        if F is not self.given or self.gamma > STIFFEST * (2 * self.matrix.smooth + self.matrix.fit):
            return super().freed(F, MF)
        before, F = self.value(F), super().freed(F, MF)
        self.several = before - self.value(F) > FREE * SMALL * before
        return F
